import { useLayoutEffect, useRef } from "react";

/** Handlers by key. `mod+k` is Ctrl+K, or Command+K on a Mac. */
export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

/** Keys that work anywhere on a page, except while the person types. Those with `mod` work there, too. */
export function useKeys(keys: KeyMap, active = true): void {
  const latest = useRef(keys);
  // Layout effects: what is on the screen answers its keys at once.
  useLayoutEffect(() => {
    latest.current = keys;
  });
  useLayoutEffect(() => {
    if (!active) return;
    const listener = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      const name = (event.ctrlKey || event.metaKey ? "mod+" : "") + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
      const handler = latest.current[name];
      if (!handler) return;
      const typing = isTyping(event.target);
      if (typing && !name.startsWith("mod+")) return;
      // A link or a button that has the focus is what Enter is for.
      if (name === "Enter" && event.target instanceof Element && event.target.closest("a, button, summary, [role=menuitem]")) return;
      // A dialog has its own keys.
      if (document.querySelector('[role="dialog"]:not([data-state="closed"])') && !name.startsWith("mod+")) return;
      event.preventDefault();
      handler(event);
    };
    document.addEventListener("keydown", listener);
    return () => document.removeEventListener("keydown", listener);
  }, [active]);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
export const MOD = isMac ? "⌘" : "Ctrl+";
