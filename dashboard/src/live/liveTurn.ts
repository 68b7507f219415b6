import type { StepStatus, ToolStatus } from "../api/types";
import type { Progress } from "./frames";
import { isApart, isOwnRun, type Purpose } from "./messages";

/** What the agent does at this moment. It is shown until the journal has it. */
export interface LiveTurn {
  text: string;
  phase: "waiting" | "thinking" | "writing" | "tools" | "again" | "compacting";
  why: string | undefined;
  tools: { name: string; detail: string; status: ToolStatus | undefined; tookMs: number | undefined }[];
  step: { position: number; total: number; about: string; status: StepStatus | undefined } | undefined;
}

/**
 * Puts entries and progress together. Both come in order, but progress may come later than the entry it led to: what the
 * journal has already is not shown a second time, and what comes after the end of its turn is not shown at all.
 */
export class LiveTracker {
  live: LiveTurn | undefined;
  /** The turn of the conversation that has begun and not ended, by the journal. */
  #open: string | undefined;
  /** How many replies the journal has, by turn of the conversation. */
  #replied = new Map<string, number>();
  #ended = new Set<string>();
  /** The turns of runs, which have a conversation of their own. */
  #ofRuns = new Set<string>();
  /** The turn that progress is about, and how many calls of the model it told of. */
  #turn: string | undefined;
  #called = 0;
  /** Whether an execution is under way, by the journal; unknown at first. */
  #executing: boolean | undefined;

  /** Nothing is under way. */
  clear(): void {
    this.live = undefined;
  }

  entry(type: string, event: Record<string, unknown>): void {
    const turn = typeof event.turn === "string" ? event.turn : "";
    switch (type) {
      case "turn_begun": {
        const purpose = event.purpose as Purpose | undefined;
        if (isOwnRun(purpose)) {
          this.#ofRuns.add(turn);
          if (this.#turn === turn) this.live = undefined;
        }
        if (isApart(purpose)) break;
        this.#open = turn;
        this.#replied.set(turn, 0);
        this.live ??= fresh();
        break;
      }
      case "model_replied": {
        const replies = this.#replied.get(turn);
        if (replies === undefined) break;
        this.#replied.set(turn, replies + 1);
        if (this.live) this.live = { ...this.live, text: "", phase: "tools" };
        break;
      }
      case "tool_ended":
        if (this.live) this.live = { ...this.live, tools: this.live.tools.filter((tool) => tool.status === undefined) };
        break;
      case "turn_ended":
        this.#ended.add(turn);
        if (turn !== this.#open) break;
        this.#open = undefined;
        this.live = undefined;
        break;
      case "execution_started":
      case "execution_resumed":
      case "step_begun":
        this.#executing = true;
        break;
      case "execution_finished":
      case "execution_paused":
      case "plan_cancelled":
      case "plan_superseded":
        this.#executing = false;
        if (this.live?.step) this.live = undefined;
        break;
    }
  }

  progress(progress: Progress): void {
    switch (progress.type) {
      case "accepted":
      case "resumed":
        this.#turn = progress.turnId;
        if (this.#ofRuns.has(progress.turnId)) {
          this.live = undefined;
          return;
        }
        this.#called = progress.type === "resumed" ? (this.#replied.get(progress.turnId) ?? 0) : 0;
        if (!this.#ended.has(progress.turnId)) this.live = { ...fresh(), step: this.live?.step };
        return;
      case "step_started":
      case "step_ended": {
        if (this.#executing === false) return;
        const { position, total, about } = progress;
        this.live = { ...(this.live ?? fresh()), text: "", step: { position, total, about, status: progress.type === "step_ended" ? progress.status : undefined } };
        return;
      }
      case "waiting":
        this.live = { ...(this.live ?? fresh()), phase: "waiting" };
        return;
      case "finished":
      case "said":
        return;
      default:
        break;
    }
    // What a run does is read with the run.
    if (this.#turn !== undefined && this.#ofRuns.has(this.#turn)) return;
    const inStep = this.live?.step !== undefined && this.live.step.status === undefined;
    if (!inStep && this.#isOld(progress)) return;
    this.live = progressed(this.live ?? fresh(), progress, inStep);
  }

  /** Whether the journal is further than this. */
  #isOld(progress: Progress): boolean {
    if (this.#turn === undefined) {
      if (this.#open === undefined) return true;
      this.#turn = this.#open;
      this.#called = (this.#replied.get(this.#open) ?? 0) + (progress.type === "model_called" ? 0 : 1);
    }
    if (progress.type === "model_called") this.#called += 1;
    if (progress.type === "again") this.#called -= 1;
    if (this.#ended.has(this.#turn)) return true;
    const replied = this.#replied.get(this.#turn) ?? 0;
    return progress.type === "text" || progress.type === "model_called" ? replied >= this.#called : replied > this.#called;
  }
}

function fresh(): LiveTurn {
  return { text: "", phase: "thinking", why: undefined, tools: [], step: undefined };
}

function progressed(live: LiveTurn, progress: Progress, inStep: boolean): LiveTurn {
  switch (progress.type) {
    case "model_called":
      return { ...live, phase: "thinking", text: "", tools: [], why: undefined };
    case "text": {
      // What a specialist says belongs to its step, not to the conversation.
      const asked = live.tools.some((tool) => tool.name === "ask_agent" && tool.status === undefined);
      return { ...live, phase: "writing", text: inStep || asked ? "" : live.text + progress.text };
    }
    case "again":
      return { ...live, phase: "again", text: "", why: progress.why };
    case "replied":
      return { ...live, phase: progress.calls > 0 ? "tools" : live.phase };
    case "tool_started":
      return { ...live, phase: "tools", tools: [...live.tools, { name: progress.name, detail: progress.detail, status: undefined, tookMs: undefined }] };
    case "tool_ended": {
      const index = live.tools.findIndex((tool) => tool.status === undefined && tool.name === progress.name);
      return { ...live, tools: live.tools.filter((_, at) => at !== index) };
    }
    case "compacting":
      return { ...live, phase: "compacting" };
    case "compacted":
      return { ...live, phase: "thinking" };
    default:
      return live;
  }
}
