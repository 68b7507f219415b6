import type { ReactNode } from "react";

/** Drawn on a 16 px grid with a line of 1.5 px, in the colour of the text. */
const PATHS = {
  inbox: "M2 9.5 4 3h8l2 6.5M2 9.5V13h12V9.5M2 9.5h3.5L6.5 11h3L10.500 9.500H14",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.600 10.600 14 14",
  gear: "M8 10.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400ZM8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M12.600 3.400l-1.400 1.400M4.800 11.200l-1.400 1.400",
  menu: "M2 4h12M2 8h12M2 12h12",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  check: "M3 8.500 6.500 12 13 4.500",
  copy: "M5.500 5.500V3H13v7.500h-2.500M3 5.500h7.500V13H3z",
  chevron: "M6 3.500 10.500 8 6 12.500",
  send: "M8 13V3M3.500 7.500 8 3l4.500 4.500",
  stop: "M4.500 4.500h7v7h-7z",
  trash: "M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500 5 13h6l.500-8.500",
  terminal: "M2.500 3h11v10h-11zM5 6l2 2-2 2M8.500 10H11",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  edit: "M3 13l.700-3L10.500 3.200l2.300 2.300L6 12.300z",
  tool: "M10 2.500a3.500 3.500 0 0 0-3.300 4.700L2.500 11.400l2.100 2.100 4.200-4.200A3.500 3.500 0 0 0 13.500 6L11.300 7 9 4.700z",
  book: "M3 3h4.500L8 3.500 8.500 3H13v10H8.500L8 13.500 7.500 13H3zM8 3.500v10",
  list: "M6 4h8M6 8h8M6 12h8M2.500 4h.01M2.500 8h.01M2.500 12h.01",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.500V8l2.500 1.500",
  question: "M6 6a2 2 0 1 1 2.600 1.900c-.400.150-.600.500-.600.900v.700M8 11.800h.01",
  warning: "M8 2.500 14.500 13.500h-13zM8 6.500v3.500M8 12h.01",
  person: "M8 8a2.750 2.750 0 1 0 0-5.500A2.750 2.750 0 0 0 8 8ZM2.500 13.500c.700-2.500 2.800-3.700 5.500-3.700s4.800 1.200 5.500 3.700",
  comment: "M2.500 3h11v8H8l-3 2.500V11H2.500z",
  strike: "M2.500 8h11M11 4.500C10.500 3.500 9.500 3 8 3 6 3 5 4 5 5.300c0 1 .500 1.700 2 2.200M5 11.500c.500 1 1.500 1.500 3 1.500 2 0 3-1 3-2.300",
  swap: "M3 5.500h9.500L10 3M13 10.500H3.500L6 13",
  keyboard: "M1.500 4.500h13v7h-13zM4 7h.01M6.700 7h.01M9.300 7h.01M12 7h.01M5 9.500h6",
  out: "M9 2.500H3.500v11H9M6.500 8h8M11.500 5l3 3-3 3",
  outside: "M6 3H3v10h10v-3M9 3h4v4M13 3 7.500 8.500",
  run: "M5 3.500v9l7.500-4.500z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  back: "M10 3.500 5.500 8l4.500 4.500",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
