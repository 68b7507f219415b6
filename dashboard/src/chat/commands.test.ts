import { expect, test } from "vitest";

import { completions } from "./commands";

const command = (usage: string, name = usage.replace(/ [<[#].*| on\|off$/, "")) => ({ name, usage, help: `about ${name}`, example: name, group: "Plans" });
const COMMANDS = [command("/plan <what to plan>"), command("/plan on [document|collect|build]"), command("/plan off"), command("/plan files on|off"), command("/plans")];
const texts = (typed: string) => completions(typed, COMMANDS).map(({ text }) => text);

test("a beginning is completed with every command that begins so", () => {
  expect(texts("/plan o")).toEqual(["/plan on", "/plan on document", "/plan on collect", "/plan on build", "/plan off"]);
  expect(texts("/plan f")).toEqual(["/plan files on", "/plan files off"]);
  expect(texts("/p")).toContain("/plan ");
  expect(texts("/plan on")).toEqual(["/plan on document", "/plan on collect", "/plan on build"]);
});

test("nothing is offered for messages and for whole commands", () => {
  expect(texts("plan")).toEqual([]);
  expect(texts("/plans")).toEqual([]);
  expect(texts("/plan o\nmore")).toEqual([]);
});
