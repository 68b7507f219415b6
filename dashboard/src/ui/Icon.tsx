import type { ReactNode } from "react";

/** Drawn on a 16 px grid with a line of 1.5 px, in the colour of the text. */
const PATHS = {
  inbox: "M2 9.5 4 3h8l2 6.5M2 9.5V13h12V9.5M2 9.5h3.5L6.5 11h3L10.5 9.5H14",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.6 10.6 14 14",
  gear: "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  menu: "M2 4h12M2 8h12M2 12h12",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.02M8 8h.02M12.5 8h.02",
  check: "M3 8.5 6.5 12 13 4.5",
  copy: "M5.5 5.5V3H13v7.5h-2.5M3 5.5h7.5V13H3z",
  chevron: "M6 3.5 10.5 8 6 12.5",
  send: "M8 13V3M3.5 7.5 8 3l4.5 4.5",
  stop: "M4.5 4.5h7v7h-7z",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5 5 13h6l.500-8.5",
  terminal: "M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10H11",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  edit: "M3 13l.700-3L10.5 3.2l2.3 2.3L6 12.3z",
  tool: "M10 2.5a3.5 3.5 0 0 0-3.3 4.7L2.5 11.4l2.1 2.1 4.2-4.2A3.5 3.5 0 0 0 13.5 6L11.3 7 9 4.7z",
  book: "M3 3h4.5L8 3.5 8.5 3H13v10H8.5L8 13.5 7.5 13H3zM8 3.5v10",
  list: "M6 4h8M6 8h8M6 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5",
  question: "M6 6a2 2 0 1 1 2.6 1.9c-.400.15-.600.5-.600.9v.700M8 11.8h.01",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 12h.01",
  person: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8ZM2.5 13.5c.700-2.5 2.8-3.7 5.5-3.7s4.8 1.2 5.5 3.7",
  comment: "M2.5 3h11v8H8l-3 2.5V11H2.5z",
  strike: "M2.5 8h11M11 4.5C10.5 3.5 9.5 3 8 3 6 3 5 4 5 5.3c0 1 .500 1.7 2 2.2M5 11.5c.500 1 1.5 1.5 3 1.5 2 0 3-1 3-2.3",
  swap: "M3 5.5h9.5L10 3M13 10.5H3.5L6 13",
  keyboard: "M1.5 4.5h13v7h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.5h6",
  out: "M9 2.5H3.5v11H9M6.5 8h8M11.5 5l3 3-3 3",
  outside: "M6 3H3v10h10v-3M9 3h4v4M13 3 7.5 8.5",
  run: "M5 3.5v9l7.5-4.5z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  back: "M10 3.5 5.5 8l4.5 4.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth={name === "more" ? 2.4 : 1.5} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
