// Text of models and of files does nothing, wherever it is shown, and hides nothing.
import { beforeAll, expect, test } from "vitest";

import { until, visit } from "./browser";
import { HOSTILE, HOSTILE_LINE } from "./script";
import { sharedStack, type Stack } from "./stack";

let stack: Stack;
let plan: string;

beforeAll(async () => {
  stack = await sharedStack();
  const talk = async (...said: string[]) => {
    for (const text of said) await stack.api("POST", "/api/sessions/hostile-1/messages", { text });
  };
  await stack.api("POST", "/api/sessions", { sessionId: "hostile-1" });
  await talk("/plan say hello", "hostile, please", HOSTILE, "a hostile file");
  await stack.api("PATCH", "/api/sessions/hostile-1", { title: HOSTILE_LINE });
  await stack.api("POST", "/api/memory", { sessionId: "hostile-1", content: HOSTILE });
  const goal = await stack.api("POST", "/api/goals", { sessionId: "hostile-1", title: HOSTILE_LINE });
  await stack.api("POST", "/api/tasks", { sessionId: "hostile-1", goalId: goal.id, title: HOSTILE_LINE });
  await talk(`/diary add ${HOSTILE_LINE}`);
  const { current } = await stack.api("GET", "/api/workbook?sessionId=hostile-1");
  const findings = current.documents.find((one: any) => one.which === "findings");
  await stack.api("PUT", "/api/workbook/findings", { sessionId: "hostile-1", version: findings.version, markdown: HOSTILE });
  await talk("a hostile plan");
  plan = (await stack.api("GET", "/api/plans?sessionId=hostile-1")).plans[0].id;
});

test("hostile text does nothing on any page, and what it hides is written out", async () => {
  const { page, go } = await visit(stack);
  const pages = ["/", "/s/hostile-1", "/s/hostile-1/goals", "/s/hostile-1/runs", "/s/hostile-1/memory", "/s/hostile-1/workbook", "/s/hostile-1/files", "/s/hostile-1/journal", `/p/${plan}`, `/p/${plan}?view=raw`, `/p/${plan}?view=history`];
  for (const path of pages) {
    await go(path);
    if (path.endsWith("workbook")) await page.getByRole("tab", { name: "Findings" }).click();
    await page.getByText("⟦U+202E⟧").first().waitFor();
    const found = await page.evaluate(() => ({
      hacked: (window as unknown as { __hacked?: number }).__hacked,
      elements: document.querySelectorAll("main :is(iframe, object, embed, base, form[action], [onerror], [onload], [onclick])").length,
      links: [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map((link) => link.protocol).filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol)),
      pictures: [...document.images].filter((image) => new URL(image.src).origin !== location.origin && !image.src.startsWith("data:")).length,
      hidden: /[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.querySelector("main")?.textContent ?? ""),
    }));
    expect(found, path).toEqual({ hacked: undefined, elements: 0, links: [], pictures: 0, hidden: false });
  }
  // Nor does it when it is streamed.
  await go("/s/hostile-1");
  await page.getByLabel("Message to the agent").fill("hostile, please, once more");
  await page.getByLabel("Message to the agent").press("Enter");
  await until(async () => (await stack.api("GET", "/api/sessions/hostile-1")).working, (working) => !working);
  expect(await page.evaluate(() => (window as unknown as { __hacked?: number }).__hacked)).toBeUndefined();
});
