import { useSyncExternalStore } from "react";

/** The texts of plans that were on this tab's screen, by digest. A plan is approved only after its text was. */
const KEY = "planwright.shown";
const MAX_KEPT = 100;

const listeners = new Set<() => void>();
let shown: readonly string[] = read();

export function markShown(digest: string): void {
  if (shown.includes(digest)) return;
  shown = [...shown, digest].slice(-MAX_KEPT);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(shown));
  } catch {
    // Without storage it is known until the page is left.
  }
  for (const listener of listeners) listener();
}

export function useWasShown(digest: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown.includes(digest),
  );
}

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}
