import { useSyncExternalStore } from "react";

/** What the person put off in this browser, by the item's key, and when. It keeps waiting: nothing is decided. */
const KEY = "planwright.not-now";

/** After this long it stands in the inbox again, in milliseconds. It comes back earlier when it changes: then its key is another. */
export const PUT_OFF_FOR = 24 * 3_600_000;

type PutOff = Readonly<Record<string, number>>;

const listeners = new Set<() => void>();
let putOff: PutOff = read();

function change(next: PutOff): void {
  putOff = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // Without storage it is known until the page is left.
  }
  for (const listener of listeners) listener();
}

export function setNotNow(keys: readonly string[], now = Date.now()): void {
  const kept = Object.entries(putOff).filter(([, at]) => now - at < PUT_OFF_FOR);
  change(Object.fromEntries([...kept, ...keys.map((key) => [key, now] as const)]));
}

export function bringBack(keys: readonly string[]): void {
  change(Object.fromEntries(Object.entries(putOff).filter(([key]) => !keys.includes(key))));
}

export function useNotNow(): PutOff {
  return useSyncExternalStore(subscribe, () => putOff);
}

export function isPutOff(putOff: PutOff, key: string, now: number): boolean {
  const at = putOff[key];
  return at !== undefined && now - at < PUT_OFF_FOR;
}

function subscribe(listener: () => void): () => void {
  // Another tab may put something off, too.
  const onStorage = (event: StorageEvent) => {
    if (event.key !== KEY) return;
    putOff = read();
    listener();
  };
  window.addEventListener("storage", onStorage);
  listeners.add(listener);
  return () => {
    window.removeEventListener("storage", onStorage);
    listeners.delete(listener);
  };
}

function read(): PutOff {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    return Object.fromEntries(Object.entries(stored).filter((entry): entry is [string, number] => typeof entry[1] === "number"));
  } catch {
    return {};
  }
}
