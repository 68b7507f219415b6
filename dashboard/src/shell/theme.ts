export type Theme = "system" | "light" | "dark";

const KEY = "planwright.theme";

export function theme(): Theme {
  const stored = read();
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(next: Theme): void {
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    if (next === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, next);
  } catch {
    // A browser without storage keeps the choice until the page is left.
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
