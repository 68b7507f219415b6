import { expect, test } from "vitest";

import type { Step } from "../api/types";
import { covered } from "./covers";
import { coversWords } from "./Covers";

const step = (position: number, more: Partial<Step>): Step => ({ id: `s${position}`, position, description: `step ${position}`, status: "PENDING", ...more });

test("recorded calls are named by what they do, wherever they stand", () => {
  const steps = [
    step(1, { tool: "read_file", arguments: { path: "a" } }),
    step(2, { tool: "write_file", arguments: { path: "a", content: "see https://User@Docs.Example.org:8080/x and https://a.example$path" } }),
    step(3, { tool: "run_command", arguments: { command: "scp x deploy@host.example:/srv", cwd: "web" } }),
    step(4, { tool: "delete_file", arguments: { path: "b" } }),
    step(5, { tool: "move_file", arguments: { path: "c", to: "d" } }),
    step(6, { tool: "mail__send", arguments: {} }),
    step(7, { tool: "mail__send", arguments: {} }),
  ];
  expect(covered({ style: "collect", markdown: "", steps })).toEqual({
    commands: [{ step: 3, line: "cd web && scp x deploy@host.example:/srv" }],
    files: [
      { step: 2, path: "a" },
      { step: 5, path: "c → d" },
    ],
    deletions: [{ step: 4, path: "b" }],
    tools: [{ name: "mail__send", steps: [6, 7] }],
    reads: 1,
    hosts: ["a.example", "docs.example.org", "host.example"],
    areHostsFromText: false,
    needs: undefined,
  });
  expect(covered({ style: "collect", markdown: "", steps }, new Set([3, 4, 6])).commands).toEqual([]);
  expect(coversWords(covered({ style: "collect", markdown: "", steps }))).toEqual(["1 command", "1 deletion", "2 files changed", "1 other tool", "3 hosts named"]);
});

test("a tool of another program is no tool of ours by its name", () => {
  const steps = [step(1, { tool: "read_file", arguments: {}, madeBy: "client" }), step(2, { tool: "read_file", arguments: {}, madeBy: "planwright" })];
  expect(covered({ style: "collect", markdown: "", steps })).toMatchObject({ reads: 1, tools: [{ name: "read_file", steps: [1] }] });
});

test("every command of every step of an agents' plan counts", () => {
  const steps = Array.from({ length: 22 }, (_, index) => step(index + 1, index === 16 ? { commands: ["rm -rf /srv/old", "systemctl restart web"] } : {}));
  expect(covered({ style: "build", markdown: "", steps }).commands).toEqual([
    { step: 17, line: "rm -rf /srv/old" },
    { step: 17, line: "systemctl restart web" },
  ]);
});

test("a document covers the shell lines that the server names", () => {
  const plan = { style: "document" as const, markdown: "Run `$ make`. See https://a.example/x and http://[2001:db8::1]:80/ or https://a.example.", commands: ["make", "make picture"], steps: [] };
  expect(covered(plan)).toMatchObject({ commands: [{ step: undefined, line: "make" }, { step: undefined, line: "make picture" }], hosts: ["[2001:db8::1]", "a.example"] });
  // A text names hosts also to read there.
  expect(coversWords(covered(plan))).toEqual(["2 commands"]);
});

test("the block of a document that says what its work needs is shown as it is written", () => {
  const needs = 'files = ["src/**"]\ncommands = ["rm -rf /srv/old"]';
  const markdown = (word: string) => `# Move\n\n> \`\`\`${word}\n> ${needs.replace("\n", "\n> ")}\n> \`\`\`\n`;
  // As the server reads it: whatever stands behind the word, and whichever space is between.
  for (const info of ["planwright-needs", "planwright-needs\u00a0x", "planwright-needs\u0085x", "planwright-needs x"]) expect(covered({ style: "document", markdown: markdown(info), steps: [] }).needs).toBe(needs);
  expect(covered({ style: "document", markdown: markdown("toml"), steps: [] }).needs).toBeUndefined();
});
