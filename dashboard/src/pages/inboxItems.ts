import type { InboxItem } from "../api/types";
import { t } from "../texts/t";

export function inboxItemKey(item: InboxItem): string {
  return `${item.kind}:${item.planId}:${item.step?.position ?? ""}:${item.digest}`;
}

export function inboxTitle(item: InboxItem): string {
  return t(`inbox.kind.${item.kind}`, { number: item.number, step: item.step?.position ?? 0 });
}

export function inboxAsk(item: InboxItem): string {
  return t(`inbox.ask.${item.kind}`, { number: item.number, step: item.step?.position ?? 0 });
}

/** What stops work comes before what has not begun; within that the oldest comes first. */
const URGENCY: Record<InboxItem["kind"], number> = { uncertain_step: 0, run: 1, approval: 2 };

function urgency(item: InboxItem): number {
  return (URGENCY as Partial<Record<string, number>>)[item.kind] ?? 0;
}

export function byUrgency(items: readonly InboxItem[]): InboxItem[] {
  return [...items].sort((a, b) => urgency(a) - urgency(b) || Date.parse(a.since) - Date.parse(b.since));
}
