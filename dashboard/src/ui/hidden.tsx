import { Fragment, type ReactNode } from "react";

import { t } from "../texts/t";

/**
 * Characters that hide, reorder, move or strike text are written out as `⟦U+202E⟧`, and so are marks of which too many stand on one
 * letter, by the same rules as in the terminal (`crates/core/src/visible.rs`). Line ends and tabs stay, and the bracket itself is written out so that the notation
 * cannot be faked.
 */
export interface Piece {
  text: string;
  hidden: boolean;
}

export function pieces(text: string): Piece[] {
  if (!SUSPECT.test(text)) return [{ text, hidden: false }];
  const found: Piece[] = [];
  let plain = "";
  let before = " ";
  // Whether the text so far ends in an emoji, with or without its selector.
  let afterEmoji = false;
  // The marks that stand on the last letter.
  let marks = 0;
  const characters = [...text];
  characters.forEach((character, index) => {
    if (character === "\r" && characters[index + 1] === "\n") return;
    const selects = choosesEmoji(character, before);
    const joins = character === "\u200d" && afterEmoji && isEmoji(characters[index + 1] ?? "");
    const isShown = isPlain(character) || selects || joins;
    marks = isShown && MARK.test(character) ? marks + 1 : 0;
    if (isShown && marks <= MAX_MARKS) {
      plain += character;
    } else {
      if (plain !== "") found.push({ text: plain, hidden: false });
      plain = "";
      found.push({ text: written(character), hidden: true });
    }
    afterEmoji = isEmoji(character) || (selects && afterEmoji);
    before = character;
  });
  if (plain !== "") found.push({ text: plain, hidden: false });
  return found;
}

export function visible(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join("");
}

/** Text as a person may trust it. */
export function Visible({ text }: { text: string }): ReactNode {
  const shown = pieces(text);
  if (shown.length === 1 && !shown[0]?.hidden) return shown[0]?.text;
  return shown.map((piece, index) =>
    piece.hidden ? (
      <span key={index} className="hidden-char" title={t("hidden.title")}>
        {piece.text}
      </span>
    ) : (
      <Fragment key={index}>{piece.text}</Fragment>
    ),
  );
}

function written(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

const RANGES: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x27e6, 0x27e6],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x3164, 0x3164],
  [0xffa0, 0xffa0],
  [0x180b, 0x180f],
  [0x61c, 0x61c],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x2028, 0x2029],
  [0xfe00, 0xfe0f],
  [0x2800, 0x2800],
  [0xfeff, 0xfeff],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
  [0x13430, 0x1345f],
  // Strokes and shapes over a letter: text in which each letter has one looks struck out.
  [0x334, 0x338],
  [0x488, 0x489],
  [0x20d2, 0x20d3],
  [0x20d8, 0x20da],
  [0x20dd, 0x20e0],
  [0x20e2, 0x20e2],
  [0x20e4, 0x20e6],
  [0x20ea, 0x20eb],
  [0xa670, 0xa672],
  // A half of a pair that stands alone.
  [0xd800, 0xdfff],
];

/** How many marks may stand on one letter. Living languages need no more. */
const MAX_MARKS = 4;
const MARK = /[\p{Mn}\p{Me}]/u;

// The ranges, and every other character that Unicode calls a format control.
const HIDDEN = `[\\p{Cf}${RANGES.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`;
const HIDDEN_CHARACTER = new RegExp(HIDDEN, "u");
const SUSPECT = new RegExp(`${HIDDEN}|[\\p{Mn}\\p{Me}]{${MAX_MARKS + 1}}`, "u");

function isPlain(character: string): boolean {
  return !HIDDEN_CHARACTER.test(character);
}

/** After a symbol, and once, two selectors only choose between text and emoji; anywhere else they hide something. */
function choosesEmoji(character: string, before: string): boolean {
  if (character !== "\ufe0e" && character !== "\ufe0f") return false;
  const code = before.codePointAt(0) ?? 0;
  const symbol = code === 0xa9 || code === 0xae || (code >= 0x203c && code <= 0x3299) || (code >= 0x1f000 && code <= 0x1faff);
  return symbol && isPlain(before);
}

/** What a joiner can put together: pictures, their skin tones, and the symbols that stand in joined emoji. */
function isEmoji(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (code >= 0x1f000 && code <= 0x1faff) || (code >= 0x2600 && code <= 0x27bf) || code === 0x2194 || code === 0x2195 || code === 0x2b1b;
}
