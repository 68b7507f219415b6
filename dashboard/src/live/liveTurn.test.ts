import { describe, expect, test } from "vitest";

import type { Progress } from "./frames";
import { LiveTracker } from "./liveTurn";

type Input = ["e", string, Record<string, unknown>] | ["p", Progress];
const begun: Input = ["e", "turn_begun", { turn: "t1", text: "go" }];
const reply: Input = ["e", "model_replied", { turn: "t1", reply: { text: "Hello." } }];
const ended: Input = ["e", "turn_ended", { turn: "t1", end: { kind: "answered" } }];
const accepted: Input = ["p", { type: "accepted", turnId: "t1" }];
const called: Input = ["p", { type: "model_called" }];
const text = (words: string): Input => ["p", { type: "text", text: words }];
const done: Input = ["p", { type: "replied", calls: 0 }];

function after(...inputs: Input[]): LiveTracker {
  const tracker = new LiveTracker();
  for (const input of inputs) {
    if (input[0] === "e") tracker.entry(input[1], input[2]);
    else tracker.progress(input[1]);
  }
  return tracker;
}

describe("what is shown of a running turn", () => {
  test("is the text so far", () => {
    expect(after(begun, accepted, called, text("Hel"), text("lo.")).live?.text).toBe("Hello.");
  });

  test("is nothing that the journal has, even if its progress comes later", () => {
    expect(after(begun, accepted, called, text("Hel"), reply, text("lo.")).live?.text).toBe("");
    expect(after(begun, reply, accepted, called, text("Hello.")).live?.text).toBe("");
    expect(after(begun, accepted, called, text("Hello."), reply, done, called, text("Next")).live?.text).toBe("Next");
  });

  test("ends with the turn, whatever comes later", () => {
    expect(after(begun, accepted, called, text("Hello."), reply, ended).live).toBeUndefined();
    expect(after(begun, reply, ended, accepted, called, text("Hello."), done).live).toBeUndefined();
    expect(after(begun, reply, ended, text("lo."), done).live).toBeUndefined();
  });

  test("is right for a page that was opened in the middle of a turn", () => {
    expect(after(begun, reply, text("se"), text("cond")).live?.text).toBe("second");
    expect(after(begun, called, text("first")).live?.text).toBe("first");
  });

  test("does not count a call that is made again", () => {
    expect(after(begun, accepted, called, text("no"), ["p", { type: "again", why: "", waitMs: 1 }], called, text("yes"), reply, text("late")).live?.text).toBe("");
  });

  test("is the step of an execution, without the words of its agent, until the execution ends", () => {
    const started: Input = ["p", { type: "step_started", position: 1, total: 2, about: "copy" }];
    const running = after(["e", "step_begun", {}], started, called, text("I copy"));
    expect(running.live).toMatchObject({ text: "", step: { position: 1, about: "copy" } });
    running.entry("execution_finished", {});
    expect(running.live).toBeUndefined();
    running.progress({ type: "step_ended", position: 2, total: 2, about: "x", status: "COMPLETED", note: null, tookMs: 1 });
    expect(running.live).toBeUndefined();
  });
});
