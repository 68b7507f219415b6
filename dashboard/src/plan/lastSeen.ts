/** Which version of a plan this browser showed last. */
export interface Seen {
  version: number;
  digest: string;
  at: string;
}

const PREFIX = "planwright.seen.";

export function lastSeen(planId: string): Seen | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(PREFIX + planId) ?? "null");
    if (typeof stored !== "object" || stored === null) return undefined;
    const { version, digest, at } = stored as Partial<Seen>;
    return typeof version === "number" && typeof digest === "string" && typeof at === "string" ? { version, digest, at } : undefined;
  } catch {
    return undefined;
  }
}

export function rememberSeen(planId: string, seen: Seen): void {
  try {
    localStorage.setItem(PREFIX + planId, JSON.stringify(seen));
  } catch {
    // Without storage every visit is the first.
  }
}
