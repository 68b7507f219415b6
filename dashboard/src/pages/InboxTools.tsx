import type { ReactNode } from "react";

import type { InboxItem } from "../api/types";
import { t } from "../texts/t";
import { Button } from "../ui/basics";

/** Which items are in view: of one kind, or those that were put off. */
export type InboxView = "all" | "plans" | "asks" | "stopped" | "tools" | "later";

const VIEW_OF: Record<InboxItem["kind"], InboxView> = { plan: "plans", permission: "asks", question: "asks", uncertain: "stopped", failed: "stopped", step: "stopped", run: "stopped", budget: "stopped", tool_change: "tools", refused: "stopped" };
const VIEWS: readonly InboxView[] = ["all", "plans", "asks", "stopped", "tools", "later"];

export function inView(view: InboxView, items: readonly InboxItem[], later: readonly InboxItem[]): readonly InboxItem[] {
  if (view === "later") return later;
  return view === "all" ? items : items.filter((item) => VIEW_OF[item.kind] === view);
}

/** Whether every word stands in what is said about the item. */
export function hasWords(words: string, said: string): boolean {
  const text = said.toLowerCase();
  return words.toLowerCase().trim().split(/\s+/).every((word) => text.includes(word));
}

/** From this many on they can be searched. */
const SEARCHED_FROM = 6;

/** Chooses which items are in view, and puts off those that are ticked. */
export function InboxTools({
  items,
  later,
  view,
  onView,
  words,
  onWords,
  ticked,
  onTicked,
}: {
  items: readonly InboxItem[];
  later: readonly InboxItem[];
  view: InboxView;
  onView: (view: InboxView) => void;
  words: string;
  onWords: (words: string) => void;
  /** How many items are ticked. */
  ticked: number;
  /** Puts off what is ticked, or brings it back. */
  onTicked: () => void;
}): ReactNode {
  const counted = VIEWS.map((one) => ({ one, count: inView(one, items, later).length }));
  const offered = counted.filter(({ one, count }) => one === "all" || one === view || count > 0);
  return (
    <div className="inbox-tools">
      {offered.length > 2 || later.length > 0 ? (
        <div className="segments" role="group" aria-label={t("inbox.views")}>
          {offered.map(({ one, count }) => (
            <button key={one} type="button" aria-pressed={view === one} onClick={() => onView(one)}>
              {t(`inbox.view.${one}`)} {count}
            </button>
          ))}
        </div>
      ) : null}
      {(items.length >= SEARCHED_FROM || words !== "") && (
        <input type="search" className="inbox-words" aria-label={t("inbox.words")} placeholder={t("inbox.words")} value={words} onChange={(event) => onWords(event.target.value)} />
      )}
      {ticked > 0 && (
        <Button onClick={onTicked} title={view === "later" ? undefined : t("inbox.notNowWords")} aria-keyshortcuts="s">
          {t(view === "later" ? "inbox.bringBack" : "inbox.notNow", { count: ticked })}
        </Button>
      )}
    </div>
  );
}
