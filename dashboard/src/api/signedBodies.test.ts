import { afterEach, expect, test, vi } from "vitest";

import { changeRun, startRun, switchSchedule } from "./auto";
import { promoteMemory } from "./memory";

afterEach(() => {
  vi.unstubAllGlobals();
});

test("a body names what was shown together with the passphrase, and nothing of it without", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (path: string, { body }: { body: string }) => {
    sent.push([path, JSON.parse(body)]);
    return new Response("{}");
  });
  const proof = { approver: "ada", passphrase: "correct horse battery" };
  const shown = { id: "1", digest: "9f86" };
  await startRun("blog", { goalId: "g1" }, "key", proof, "9f86");
  await changeRun("blog", shown, "resume", "key", proof);
  await switchSchedule("blog", shown, "resume", "key", proof);
  await promoteMemory("blog", shown, "key", proof);
  await changeRun("blog", shown, "resume", "key");
  const signed = { ...proof, digest: "9f86" };
  expect(sent).toEqual([
    ["/api/runs", { sessionId: "blog", goalId: "g1", ...signed }],
    ["/api/runs/1/resume?sessionId=blog", signed],
    ["/api/schedules/1/resume?sessionId=blog", signed],
    ["/api/memory/1/promote?sessionId=blog", signed],
    ["/api/runs/1/resume?sessionId=blog", {}],
  ]);
});
