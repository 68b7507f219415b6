import { useEffect, useState, type ReactNode, type RefObject } from "react";

import type { ReviewAnchor } from "../api/review";
import { t } from "../texts/t";
import { Button } from "../ui/basics";
import { anchorAt, selectedOffsets } from "./anchors";
import type { ReviewDraft } from "./useReview";

/** What can be done with the words that are selected. */
export function SelectionBar({ within, review }: { within: RefObject<HTMLElement | null>; review: ReviewDraft }): ReactNode {
  const [place, setPlace] = useState<{ top: number; left: number; anchor: ReviewAnchor }>();
  useEffect(() => {
    const look = () => {
      const selection = document.getSelection();
      const root = within.current;
      if (!root || !selection || selection.isCollapsed || selection.rangeCount === 0) return setPlace(undefined);
      const range = selection.getRangeAt(0);
      const offsets = selectedOffsets(root, range);
      if (!offsets) return setPlace(undefined);
      const box = range.getBoundingClientRect();
      setPlace({
        top: Math.max(8, box.top - 48),
        left: Math.min(Math.max(8, box.left), window.innerWidth - 280),
        anchor: anchorAt(root.textContent ?? "", offsets.start, offsets.end),
      });
    };
    document.addEventListener("selectionchange", look);
    return () => document.removeEventListener("selectionchange", look);
  }, [within]);
  if (!place) return null;
  const act = (kind: "comment" | "replace" | "strike") => {
    review.begin(place.anchor, kind);
    document.getSelection()?.removeAllRanges();
    setPlace(undefined);
  };
  return (
    <div className="selection-bar" role="toolbar" aria-label={t("review.selection")} style={{ top: place.top, left: place.left }} onMouseDown={(event) => event.preventDefault()}>
      <Button look="quiet" icon="comment" onClick={() => act("comment")}>
        {t("review.comment")}
      </Button>
      <Button look="quiet" icon="swap" onClick={() => act("replace")}>
        {t("review.replace")}
      </Button>
      <Button look="quiet" icon="strike" onClick={() => act("strike")}>
        {t("review.strike")}
      </Button>
    </div>
  );
}
