// @vitest-environment jsdom
import { readFileSync } from "node:fs";

import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { HOSTILE } from "../../tests/browser/script";
import { WholeContext } from "./CodeBlock";
import { Markdown, SessionFilesContext } from "./Markdown";

afterEach(cleanup);

test("hostile Markdown makes no element that acts, and hides nothing", () => {
  const { container } = render(<Markdown text={HOSTILE} />);
  expect(container.querySelector("script, iframe, svg[onload], style, img, form, object, embed")).toBeNull();
  for (const element of container.querySelectorAll("*")) {
    for (const attribute of element.attributes) {
      expect(attribute.name.startsWith("on")).toBe(false);
      if (attribute.name === "href") expect(attribute.value).toMatch(/^(https?|mailto):/);
    }
  }
  expect(container.textContent).toContain("⟦U+202E⟧gpj.exe");
  expect(container.textContent).toContain("zero⟦U+200B⟧width");
  expect(container.textContent).toContain("⟦U+202E⟧entity");
  expect(container.textContent).toContain("(evil.example.org)".slice(1, -1));
});

test("a document's boxes show how its steps stand", () => {
  const steps = [
    { id: "s1", position: 1, description: "a", status: "COMPLETED" as const },
    { id: "s2", position: 2, description: "b", status: "PENDING" as const },
  ];
  const { container } = render(<Markdown text={"- [ ] a\n- [ ] b\n"} steps={steps} />);
  expect([...container.querySelectorAll("[role=img]")].map((icon) => icon.getAttribute("aria-label"))).toEqual(["done", "to do"]);
});

interface Plant {
  name: string;
  markdown: string;
  shows: string;
}

const read = (name: string) => JSON.parse(readFileSync(`../crates/core/src/plan/hidden/${name}.json`, "utf8")) as Plant[];
const PLANTS = [...read("plants"), ...read("placed")];

test.each(PLANTS)("$name: what is planted is in the text, at its place", ({ markdown, shows }) => {
  const { container } = render(<Markdown text={`Before.\n\n${markdown}\n\nAfter.`} />);
  // Long code is folded where no one decides about it, and the fold says so.
  for (const fold of container.querySelectorAll<HTMLElement>(".code-fold")) fireEvent.click(fold);
  const text = container.textContent;
  expect(text).toContain(shows);
  expect(text.indexOf("Before.")).toBeLessThan(text.indexOf(shows));
  expect(text.indexOf(shows)).toBeLessThan(text.indexOf("After."));
});

test("a picture that is shown hides neither its words nor its place", () => {
  const { container } = render(
    <SessionFilesContext value={"s"}>
      <Markdown text={"![delete the backups](old/pixel.png)"} />
    </SessionFilesContext>,
  );
  expect(container.querySelector("img")).not.toBeNull();
  expect(container.textContent).toContain("delete the backups");
  expect(container.textContent).toContain("old/pixel.png");
});

test("the first definition of a label says where its links lead", () => {
  const { container } = render(<Markdown text={"[docs][x]\n\n> [x]: https://first.example\n\n[x]: https://second.example"} />);
  expect(container.querySelector("a")?.getAttribute("href")).toBe("https://first.example");
});

/** A text of nested parts with a word of its own at every place that a writer can put one. */
function grown(seed: number): { text: string; words: string[] } {
  let state = seed;
  const roll = (sides: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * sides);
  };
  const words: string[] = [];
  const word = () => {
    words.push(`q${seed}x${words.length}z`);
    return words.at(-1) as string;
  };
  const definitions: string[] = [];
  const inline = (depth: number): string => {
    const inner = () => (depth > 3 ? word() : inline(depth + 1));
    const label = () => {
      const name = word();
      definitions.push(`[${name}]: <${word()} ${word()}> "${word()}"`);
      return name;
    };
    const kinds = [
      () => `${word()} ${word()}`,
      () => `**${inner()}** ${inner()}`,
      () => `*${inner()}*`,
      () => `~~${inner()}~~`,
      () => `\`${word()} ${word()}\``,
      () => `[${inner()}](https://${word()}.example/${word()} "${word()}")`,
      () => `[${inner()}](<${word()} ${word()}> '${word()}')`,
      () => `![${inner()}](${word()}.png (${word()}))`,
      () => `![${inner()}][${label()}]`,
      () => `[${inner()}][${label()}]`,
      () => `<https://${word()}.example>`,
      () => `https://${word()}.example/${word()}`,
      () => `<b title="${word()}">${inner()}</b>`,
      () => `<!-- ${word()} -->`,
      () => `${word()}[^${word()}] &amp; \\* ${inner()}`,
      () => `${word()}  \n${word()}`,
    ];
    return (kinds[roll(kinds.length)] as () => string)();
  };
  const indented = (text: string, by: string) => text.replaceAll("\n", `\n${by}`);
  const block = (depth: number): string => {
    const inner = () => (depth > 2 ? inline(1) : block(depth + 1));
    const row = (cells: number) => `|${Array.from({ length: cells }, () => ` ${inline(2).replaceAll("|", "\\|").replaceAll("\n", " ")} `).join("|")}|`;
    const kinds = [
      () => inline(0),
      () => `${"#".repeat(1 + roll(6))} ${inline(1).replaceAll("\n", " ")}`,
      () => `${word()}\n===`,
      () => `> ${indented(inner(), "> ")}`,
      () => `- ${indented(inner(), "  ")}\n- [ ] ${word()}\n- ${indented(inner(), "  ")}`,
      () => `7. ${indented(inner(), "   ")}\n3. ${indented(inner(), "   ")}`,
      () => `\`\`\`${word()} ${word()}\n${word()}\n\`\`\``,
      () => `    ${word()}\n    ${word()}`,
      () => `<div class="${word()}">\n${word()}\n</div>`,
      () => `${row(2)}\n|--|:-:|\n${row(2)}\n${row(3)}\n${row(1)}`,
      () => `[${word()}]: ${word()} "${word()}"`,
      () => `[^${word()}]: ${word()}\n\n    ${word()}`,
      () => `[//]: # (${word()})`,
    ];
    return (kinds[roll(kinds.length)] as () => string)();
  };
  const parts = Array.from({ length: 4 }, () => block(0));
  return { text: `${parts.join("\n\n")}\n\n${definitions.join("\n")}\n`, words };
}

test("no word is left out, wherever it stands and however it is nested", () => {
  const missing: string[] = [];
  for (let seed = 1; seed <= 80; seed += 1) {
    const { text, words } = grown(seed);
    const { container, unmount } = render(<Markdown text={text} />);
    const shown = container.textContent;
    const lost = words.filter((word) => !shown.includes(word));
    expect(container.querySelector("a a"), text).toBeNull();
    if (lost.length > 0) missing.push(`${lost.join(" ")} of:\n${text}`);
    unmount();
  }
  expect(missing.slice(0, 3)).toEqual([]);
});

test("a picture with a link in its words is also shown as it is written, and so is the text of a picture that stands in the plan itself", () => {
  const inText = "data:image/png;base64,ZGVsZXRlIHRoZSBiYWNrdXBz";
  const { container } = render(
    <WholeContext value={true}>
      <Markdown text={`![a [shelf](https://evil.example "delete the backups")](a.png) and ![b](${inText})`} />
    </WholeContext>,
  );
  expect(container.textContent).toContain('https://evil.example "delete the backups"');
  expect(container.textContent).toContain(inText);
});

test("a list has the numbers that are written", () => {
  const { container } = render(<Markdown text={"1. one\n7. two\n123456789. three\n"} />);
  expect([...container.querySelectorAll("li")].map((item) => item.value)).toEqual([1, 7, 123_456_789]);
});

test("a link that looks like another place says which host is asked", () => {
  const place = (markdown: string) => render(<Markdown text={markdown} />).container.querySelector(".md-place")?.textContent;
  expect(place("<https://\u0430\u0440\u0440\u04cf\u0435.com/>")).toBe("https://\u0430\u0440\u0440\u04cf\u0435.com/ → xn--80ak6aa92e.com");
  expect(place("[x](https://bank.example@evil.example/)")).toBe("https://bank.example@evil.example/");
  expect(place("[x](https://0x7f.1/)")).toBe("https://0x7f.1/ → 127.0.0.1");
  for (const same of ["https://a.example", "https://A.example:8080/x", "http://[::1]:80/x", "mailto:a@b.example"]) expect(place(`[x](${same})`)).toBe(same);
  expect(place("<https://a.example/x>")).toBeUndefined();
});

test("in a text that runs to the left code keeps its order", () => {
  const { container } = render(<Markdown text={"\u05e9\u05dc\u05d5\u05dd\n\n```sh\nrm -rf /\n```\n"} />);
  expect(container.querySelector(".md")?.getAttribute("dir")).toBe("auto");
  expect(readFileSync("src/styles/base.css", "utf8")).toMatch(/code,\nkbd,\npre \{[^}]*direction: ltr;/);
});

test("a table has the name of its column at each cell, and is shown as it is written if any row has more cells than fit", () => {
  const { container, rerender } = render(<Markdown text={"| a | b |\n|--|--|\n| c | d | e |\n"} />);
  expect(container.querySelector("table")?.dataset.columns).toBe("3");
  expect([...container.querySelectorAll("td")].map((cell) => cell.dataset.name)).toEqual(["a", "b", undefined]);
  rerender(<Markdown text={`| a |\n|--|\n|${" b |".repeat(30)}\n`} />);
  expect(container.querySelector("table")).toBeNull();
  expect(container.textContent.match(/\bb\b/g)).toHaveLength(30);
});
