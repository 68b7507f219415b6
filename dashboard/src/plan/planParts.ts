import type { RootContent } from "mdast";

import type { Plan, Step } from "../api/types";
import { parse } from "../markdown/parse";
import { diffLines } from "./lineDiff";
import { planDetails } from "./PlanText";
import { sha256 } from "./sha256";

/** A piece of a plan that a person looks at by itself: a step, a paragraph, an item of a list. */
export interface PlanPart {
  /** Two parts with the same key say the same. */
  key: string;
  /** Parts of two versions with the same id are one part that changed. */
  id: string | undefined;
  /** The position of the step that it is. */
  step: number | undefined;
  /** The text of a document's part. */
  markdown: string | undefined;
  /** The step of another plan. */
  content: Step | undefined;
  /** What else of another plan it is: its text is no Markdown. */
  field?: PlanField;
  /** The positions of the steps that it needs. */
  needs?: readonly number[];
}

export type PlanField = "title" | "goal" | "summary" | "assumptions" | "risks" | "verification" | "files";

export type PartChange = { mark: "same"; count: number } | { mark: "changed"; before: PlanPart | undefined; after: PlanPart | undefined };

type ReadPlan = Pick<Plan, "style" | "title" | "markdown" | "steps" | "details">;

export function planParts(plan: ReadPlan): PlanPart[] {
  return plan.style === "document" ? documentParts(plan.markdown) : stepParts(plan);
}

function documentParts(markdown: string): PlanPart[] {
  const parts: PlanPart[] = [];
  let step = 0;
  const add = (node: RootContent, isTask: boolean) => {
    const text = markdown.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
    if (isTask) step += 1;
    parts.push({ key: text.trim(), id: undefined, step: isTask ? step : undefined, markdown: text, content: undefined });
  };
  for (const node of parse(markdown).children) {
    if (node.type === "list") for (const item of node.children) add(item, typeof item.checked === "boolean");
    else add(node, false);
  }
  return parts;
}

function stepParts(plan: ReadPlan): PlanPart[] {
  const details = planDetails(plan);
  const text = (markdown: string | undefined, field: PlanField): PlanPart[] => (markdown === undefined ? [] : [{ key: `${field}:${markdown}`, id: field, step: undefined, markdown, content: undefined, field }]);
  const positions = new Map(plan.steps.map((step) => [step.id, step.position]));
  const steps = plan.steps.map((step): PlanPart => {
    const { id, description, agent, needs, tool, madeBy, commands, verification } = step;
    const said = { description, agent, needs, tool, madeBy, arguments: step.arguments, commands, verification };
    // The ids of recorded calls are new in every draft.
    return { key: JSON.stringify(said), id: plan.style === "build" ? id : undefined, step: step.position, markdown: undefined, content: { ...said, id, position: step.position, status: "PENDING" } as Step, needs: (needs ?? []).flatMap((need) => positions.get(need) ?? []) };
  });
  const items = (["assumptions", "risks", "verification", "files"] as const).flatMap((name) => details[name].map((item): PlanPart => ({ key: `${name}:${item}`, id: undefined, step: undefined, markdown: item, content: undefined, field: name })));
  return [...text(plan.title, "title"), ...text(details.goal, "goal"), ...text(details.summary, "summary"), ...steps, ...items];
}

/** What changed between two versions, part by part. A part that took the place of another is shown with it. */
export function partChanges(before: readonly PlanPart[], after: readonly PlanPart[]): PartChange[] {
  const names = new Map<string, string>();
  const nameOf = (part: PlanPart) => names.get(part.key) ?? (names.set(part.key, String(names.size)), String(names.size - 1));
  const lines = diffLines(before.map(nameOf).join("\n"), after.map(nameOf).join("\n"));
  const changes: PartChange[] = [];
  let removed: PlanPart[] = [];
  let added: PlanPart[] = [];
  const flush = () => {
    for (const old of removed) {
      const at = added.findIndex((now) => (old.id === undefined ? now.id === undefined && similar(old, now) : now.id === old.id));
      changes.push({ mark: "changed", before: old, after: at < 0 ? undefined : added.splice(at, 1)[0] });
    }
    for (const now of added) changes.push({ mark: "changed", before: undefined, after: now });
    [removed, added] = [[], []];
  };
  let [i, j] = [0, 0];
  for (const { mark } of lines) {
    if (mark === "removed") removed.push(before[i++] as PlanPart);
    else if (mark === "added") added.push(after[j++] as PlanPart);
    else {
      flush();
      [i, j] = [i + 1, j + 1];
      const last = changes.at(-1);
      if (last?.mark === "same") last.count += 1;
      else changes.push({ mark: "same", count: 1 });
    }
  }
  flush();
  return changes;
}

/** Whether a third of the words is the same. */
function similar(a: PlanPart, b: PlanPart): boolean {
  const words = (part: PlanPart) => new Set(part.key.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
  const [left, right] = [words(a), words(b)];
  const both = [...left].filter((word) => right.has(word)).length;
  return both > 0 && both * 3 >= Math.min(left.size, right.size);
}

/** What a mark "viewed" is about: it holds until this change is another one. No other change can be written that has the same key. */
export function changeKey(change: { before: PlanPart | undefined; after: PlanPart | undefined }): string {
  return sha256(JSON.stringify([change.before?.key ?? null, change.after?.key ?? null]));
}
