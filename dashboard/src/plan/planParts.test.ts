// @vitest-environment jsdom
import { expect, test } from "vitest";

import { changeKey, partChanges, planParts, type PartChange } from "./planParts";

const parts = (markdown: string) => planParts({ style: "document", title: "", markdown, steps: [], details: {} });
const words = (changes: PartChange[]) => changes.map((change) => (change.mark === "same" ? change.count : [change.before?.markdown, change.after?.markdown]));

const OLD = "# Move\n\nBy noon.\n\n- [ ] copy the files\n- [ ] check ten pages\n- [ ] rest\n";
const NEW = "# Move\n\nBy noon.\n\n- [ ] copy all the files with rsync\n- [ ] rest\n- [ ] drink some tea\n";

test("a step that was changed stands with what it was; others are gone or new", () => {
  expect(words(partChanges(parts(OLD), parts(NEW)))).toEqual([2, ["- [ ] copy the files", "- [ ] copy all the files with rsync"], ["- [ ] check ten pages", undefined], 1, [undefined, "- [ ] drink some tea"]]);
  expect(parts(NEW).map((part) => part.step)).toEqual([undefined, undefined, 1, 2, 3]);
});

test("a mark holds until the step changes again, wherever it stands", () => {
  const change = (old: string, now: string) => partChanges(parts(old), parts(now)).find((one) => one.mark === "changed");
  const first = change(OLD, NEW);
  const later = change(OLD, `${NEW}\nMore words.`);
  const again = change(OLD, NEW.replace("with rsync", "with tar"));
  if (!first || !later || !again) throw new Error("nothing changed");
  expect(changeKey(first)).toBe(changeKey(later));
  expect(changeKey(first)).not.toBe(changeKey(again));
});

test("steps of agents are known by their ids", () => {
  const plan = (description: string) => planParts({ style: "build", title: "t", markdown: "", details: { goal: "g" }, steps: [{ id: "s1", position: 1, status: "PENDING", description }] });
  expect(partChanges(plan("entirely this"), plan("something else"))).toMatchObject([{ mark: "same", count: 2 }, { mark: "changed", before: { id: "s1" }, after: { id: "s1" } }]);
});

test("nothing that is approved changes without a part that changed", () => {
  const step = (id: string, position: number, more: object) => ({ id, position, status: "PENDING" as const, description: id, ...more });
  const base = { style: "collect" as const, title: "t", markdown: "", details: { summary: "s", risks: ["r"] }, steps: [step("s1", 1, {}), step("s2", 2, { needs: ["s1"], tool: "note", madeBy: "planwright" as const, arguments: { a: 1 } })] };
  const changes = (now: Partial<typeof base>) => partChanges(planParts(base), planParts({ ...base, ...now } as typeof base)).flatMap((change) => (change.mark === "same" ? [] : [change.after?.field ?? change.after?.step]));
  expect(changes({})).toEqual([]);
  expect(changes({ title: "another" })).toEqual(["title"]);
  expect(changes({ details: { ...base.details, summary: "another" } })).toEqual(["summary"]);
  const [first, second] = base.steps as [object, object];
  for (const more of [{ needs: [] }, { madeBy: "client" }, { arguments: { a: 2 } }, { tool: "other" }, { description: "another" }]) expect(changes({ steps: [first, { ...second, ...more }] as never }), JSON.stringify(more)).toEqual([2]);
  expect(planParts(base).find(({ step }) => step === 2)?.needs).toEqual([1]);
});
