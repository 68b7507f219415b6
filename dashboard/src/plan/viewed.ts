/** Which changes of a plan the person marked as viewed in this browser. A mark names the change, so it ends when that changes. */
const PREFIX = "planwright.viewed.";
const MAX_MARKS = 2_000;

export function viewedOf(planId: string): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(PREFIX + planId) ?? "[]");
    return new Set(Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : []);
  } catch {
    return new Set();
  }
}

export function setViewed(planId: string, key: string, isViewed: boolean): ReadonlySet<string> {
  const now = new Set(viewedOf(planId));
  if (isViewed) now.add(key);
  else now.delete(key);
  try {
    localStorage.setItem(PREFIX + planId, JSON.stringify([...now].slice(-MAX_MARKS)));
  } catch {
    // Without storage it is known until the page is left.
  }
  return now;
}
