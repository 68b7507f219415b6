import { en } from "./en";

/** Every text that people read, by its key. A value with `one` and `other` depends on `count`. */
export type TextKey = keyof typeof en;
type Entry = string | { one: string; other: string };
type Values = Record<string, string | number>;

const language = "en";
const plurals = new Intl.PluralRules(language);

export function t(key: TextKey, values: Values = {}): string {
  const entry: Entry | undefined = en[key];
  // A server that is newer than this page may name states that the page does not know.
  if (entry === undefined) return key.split(".").at(-1) ?? key;
  const text = typeof entry === "string" ? entry : plurals.select(Number(values.count)) === "one" ? entry.one : entry.other;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}

const lists = new Intl.ListFormat(language, { type: "conjunction" });
export function list(items: readonly (string | number)[]): string {
  return lists.format(items.map(String));
}

const exact = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hour12: false });

export function exactTime(at: string | number): string {
  return exact.format(new Date(at));
}

/** In the time zone that something is planned in. */
export function exactTimeIn(at: string, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone }).format(new Date(at));
  } catch {
    // A zone that this browser does not know.
    return exactTime(at);
  }
}

export function bytes(n: number): string {
  if (n < 1_000) return t("bytes.b", { n });
  if (n < 1_000_000) return t("bytes.kb", { n: (n / 1_000).toFixed(1) });
  return t("bytes.mb", { n: (n / 1_000_000).toFixed(1) });
}

export function clockTime(at: string | number): string {
  return clock.format(new Date(at));
}

/** "2 min ago", and a date for what is older than a week. */
export function ago(at: string | number, now: number): string {
  const then = new Date(at).getTime();
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < 10) return t("time.now");
  if (seconds < 60) return t("time.secondsAgo", { n: seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("time.minutesAgo", { n: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return t("time.hoursAgo", { n: hours });
  const days = Math.floor(hours / 24);
  if (days < 7) return t("time.daysAgo", { n: days });
  const date = new Date(then);
  return date.getFullYear() === new Date(now).getFullYear() ? day.format(date) : dayAndYear.format(date);
}

export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return t("time.ms", { n: Math.round(milliseconds) });
  const seconds = milliseconds / 1000;
  if (seconds < 10) return t("time.s", { n: seconds.toFixed(1) });
  if (seconds < 60) return t("time.s", { n: Math.round(seconds) });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t("time.minS", { m: minutes, s: Math.round(seconds % 60) });
  return t("time.hMin", { h: Math.floor(minutes / 60), m: minutes % 60 });
}
