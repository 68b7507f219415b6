import type { InboxItem } from "../api/types";
import { t } from "../texts/t";
import type { PlanState } from "../ui/status";

export function inboxItemKey(item: InboxItem): string {
  return `${item.kind}:${item.id}:${item.step?.position ?? ""}:${item.digest}`;
}

export function inboxTitle(item: InboxItem): string {
  if (item.run !== undefined) return t(item.kind === "budget" ? "inbox.kind.budget" : "inbox.kind.autoRun", { number: item.run.number });
  return t(`inbox.kind.${item.kind}`, { number: item.number ?? 0, step: item.step?.position ?? 0 });
}

export function inboxAsk(item: InboxItem): string {
  if (item.approvedBySome !== undefined) return t("approve.bySome", { words: item.approvedBySome });
  return item.situation;
}

/** What it waits for in a row of the list, unless the title has said so already. */
export function inboxWords(item: InboxItem): string | undefined {
  const words = item.kind === "failed" ? inboxAsk(item) : (item.step?.description ?? inboxAsk(item));
  const said = words.replace(/^[^:]*: /, "").replace(/\.$/, "");
  return said !== "" && item.title.includes(said) ? undefined : words;
}

/** Whether an agent waits for an answer, and not for a decision about a plan. */
export function isAsk(item: InboxItem): boolean {
  return item.kind === "permission" || item.kind === "question";
}

/** Whether the item is about a plan, which has a page of its own. */
export function isAboutPlan(item: InboxItem): boolean {
  return !isAsk(item) && item.kind !== "tool_change" && item.run === undefined;
}

/** The plan that is decided about. The id of a step to look at ends in the position of the step. */
export function inboxPlan(item: InboxItem): string {
  return item.planId ?? item.id;
}

const STATES: Record<InboxItem["kind"], PlanState> = { plan: "READY", permission: "UNCERTAIN", question: "UNCERTAIN", uncertain: "UNCERTAIN", failed: "FAILED", refused: "UNCERTAIN", step: "PAUSED", run: "PAUSED", budget: "PAUSED", tool_change: "UNCERTAIN" };

/** The mark of the item in a list. A newer server may know more kinds. */
export function inboxState(item: InboxItem): PlanState {
  return (STATES as Partial<Record<string, PlanState>>)[item.kind] ?? "READY";
}

/** What stops work comes before what has not begun; within that the oldest comes first. */
const URGENCY: Record<InboxItem["kind"], number> = { permission: 0, question: 0, uncertain: 1, failed: 1, refused: 1, step: 1, run: 2, budget: 2, plan: 3, tool_change: 4 };

function urgency(item: InboxItem): number {
  return (URGENCY as Partial<Record<string, number>>)[item.kind] ?? 0;
}

export function byUrgency(items: readonly InboxItem[]): InboxItem[] {
  return [...items].sort((a, b) => urgency(a) - urgency(b) || Date.parse(a.since) - Date.parse(b.since));
}
