import type { CommentKind, ReviewAnchor, ReviewComment } from "../api/review";
import { newId } from "../api/newId";

/** A comment that is being written. */
export interface Writing {
  id: string;
  anchor: ReviewAnchor;
  kind: CommentKind;
  text: string;
}

/** One change of the comments. They reach the server one by one, so that two tabs never overwrite each other's. */
export type CommentChange = { put: ReviewComment } | { remove: string };

export function changed(comments: readonly ReviewComment[], changes: readonly CommentChange[]): readonly ReviewComment[] {
  return changes.reduce<readonly ReviewComment[]>((now, change) => {
    if ("remove" in change) return now.filter((comment) => comment.id !== change.remove);
    const isKnown = now.some((comment) => comment.id === change.put.id);
    return isKnown ? now.map((comment) => (comment.id === change.put.id ? change.put : comment)) : [...now, change.put];
  }, comments);
}

export interface DraftState {
  writing: Writing | undefined;
  /** What the server does not have yet. */
  pending: readonly CommentChange[];
  saving: "saved" | "saving" | "failed";
}

type Save = (changes: readonly CommentChange[]) => Promise<void>;

/** What this tab has of the comments on one plan and the server has not: every part of the page shows the same. */
export class ReviewDraftStore {
  #state: DraftState;
  #listeners = new Set<() => void>();
  #running: Promise<void> | undefined;

  constructor(private readonly planId: string) {
    this.#state = { writing: takeWriting(planId), pending: [], saving: "saved" };
  }

  get state(): DraftState {
    return this.#state;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  write(writing: Writing | undefined): void {
    keepWriting(this.planId, this.#state.writing, writing);
    this.#set({ writing });
  }

  add(change: CommentChange, save: Save): void {
    this.#set({ pending: [...this.#state.pending, change] });
    void this.save(save);
  }

  /** Sends what waits. A change that could not be sent waits for the next try. */
  save(save: Save): Promise<void> {
    this.#running ??= this.#run(save).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(save: Save): Promise<void> {
    while (this.#state.pending.length > 0) {
      const changes = this.#state.pending;
      this.#set({ saving: "saving" });
      try {
        await save(changes);
      } catch {
        this.#set({ saving: "failed" });
        return;
      }
      this.#set({ pending: this.#state.pending.slice(changes.length) });
    }
    this.#set({ saving: "saved" });
  }

  #set(change: Partial<DraftState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const stores = new Map<string, ReviewDraftStore>();

export function draftStoreOf(planId: string): ReviewDraftStore {
  const found = stores.get(planId) ?? new ReviewDraftStore(planId);
  stores.set(planId, found);
  return found;
}

const PREFIX = "planwright.writing.";

/**
 * A comment that is half written survives a reload and a way to another page in its tab, and the end of the tab. A tab that finds
 * one of another tab takes a copy of its own: nothing that either of them writes is lost.
 */
function takeWriting(planId: string): Writing | undefined {
  try {
    const own = parseWriting(sessionStorage.getItem(PREFIX + planId));
    if (own) return own;
    const key = Object.keys(localStorage).find((name) => name.startsWith(`${PREFIX}${planId}.`));
    const left = key === undefined ? undefined : parseWriting(localStorage.getItem(key));
    if (key === undefined || !left) return undefined;
    localStorage.removeItem(key);
    const taken = { ...left, id: newId() };
    keepWriting(planId, undefined, taken);
    return taken;
  } catch {
    return undefined;
  }
}

function keepWriting(planId: string, before: Writing | undefined, now: Writing | undefined): void {
  try {
    if (before && before.id !== now?.id) localStorage.removeItem(`${PREFIX}${planId}.${before.id}`);
    if (now) {
      sessionStorage.setItem(PREFIX + planId, JSON.stringify(now));
      if (now.text.trim() !== "") localStorage.setItem(`${PREFIX}${planId}.${now.id}`, JSON.stringify(now));
    } else sessionStorage.removeItem(PREFIX + planId);
  } catch {
    // Without storage it is kept until the page is left.
  }
}

function parseWriting(stored: string | null): Writing | undefined {
  const found: unknown = JSON.parse(stored ?? "null");
  if (typeof found !== "object" || found === null) return undefined;
  const { id, anchor, kind, text } = found as Partial<Writing>;
  const isKind = kind === "comment" || kind === "replace" || kind === "strike";
  return typeof id === "string" && typeof text === "string" && typeof anchor === "object" && isKind ? { id, anchor, kind, text } : undefined;
}
