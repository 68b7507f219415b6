import { useLayoutEffect, useRef, type RefObject } from "react";

import type { IconName } from "../ui/Icon";

/** Something that a person can do on the page they are on, for the palette. */
export interface PageAction {
  id: string;
  label: string;
  icon: IconName;
  /** The key that does the same. */
  key?: string;
  act: () => void;
}

const parts = new Set<RefObject<readonly PageAction[]>>();

/** Offers these in the palette while this part of the page is shown. */
export function usePageActions(actions: readonly PageAction[]): void {
  const latest = useRef(actions);
  useLayoutEffect(() => {
    latest.current = actions;
  });
  useLayoutEffect(() => {
    parts.add(latest);
    return () => {
      parts.delete(latest);
    };
  }, []);
}

/** What can be done on the page now. Where two parts of it offer the same, it is offered once. */
export function pageActions(): PageAction[] {
  const all = [...parts].flatMap((part) => part.current);
  return all.filter((action, index) => all.findIndex((other) => other.label === action.label) === index);
}
