// @vitest-environment jsdom
import { expect, test } from "vitest";

import { roundText } from "./PlanText";

test("what the rounds before did is read from the plan's own text, and words of an agent cannot pass for it", () => {
  const text = (more: string) => `# Round 9 of plan 9.\n\n> Round 8 of plan 8.\n> ## Steps\n${more}\n## Steps\n\n1. \`a\`: Round 7 of plan 7.\n\n   ## Steps\n`;
  const rounds = "\nRound 2 of plan 1.\n\n## Rounds before\n\n- round 1, COMPLETED\n  - `up__note({})`, COMPLETED: `all of it`\n";
  expect(roundText({ style: "collect", markdown: text(rounds) })).toBe(rounds.slice(1));
  expect(roundText({ style: "collect", markdown: text("") })).toBeUndefined();
  expect(roundText({ style: "document", markdown: text(rounds) })).toBeUndefined();
});
