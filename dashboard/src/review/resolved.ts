/** Which comments of earlier rounds the person is satisfied with, in this browser. */
const PREFIX = "planwright.resolved.";

export function resolvedOf(planId: string): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(PREFIX + planId) ?? "[]");
    return new Set(Array.isArray(stored) ? stored.filter((one) => typeof one === "string") : []);
  } catch {
    return new Set();
  }
}

export function setResolved(planId: string, comment: string, isResolved: boolean): ReadonlySet<string> {
  const now = new Set(resolvedOf(planId));
  if (isResolved) now.add(comment);
  else now.delete(comment);
  try {
    localStorage.setItem(PREFIX + planId, JSON.stringify([...now]));
  } catch {
    // Without storage it is known until the page is left.
  }
  return now;
}
