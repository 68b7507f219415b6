import { ApiProblem } from "../api/client";
import type { ApproverEntry } from "./ApproverFields";

/** The passphrase that a person gave on this page, in memory only. */
let kept: { entry: ApproverEntry; until: number } | undefined;

/** What the person gave a moment ago, so that they are not asked again. */
export function remembered(now: number = Date.now()): ApproverEntry | undefined {
  if (kept !== undefined && now >= kept.until) kept = undefined;
  return kept?.entry;
}

/** Keeps what a decision was accepted with, for as long as the policy says from the first one on. */
export function remember(entry: ApproverEntry, seconds: number, now: number = Date.now()): void {
  if (seconds > 0 && remembered(now) === undefined) kept = { entry, until: now + seconds * 1000 };
}

export function forget(): void {
  kept = undefined;
}

/** A passphrase that is not taken is asked for again. */
export function forgetWrong(problem: unknown): void {
  if (problem instanceof ApiProblem && problem.code === "UNAUTHENTICATED") forget();
}
