// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";

import type { ReviewComment } from "../api/review";
import { changed, ReviewDraftStore, type CommentChange } from "./draft";

const comment = (id: string, text = id): ReviewComment => ({ id, anchor: {}, kind: "comment", text });

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test("changes are made one by one to what another tab wrote meanwhile", () => {
  const others = [comment("theirs"), comment("mine", "old")];
  expect(changed(others, [{ put: comment("new") }, { put: comment("mine", "now") }, { remove: "gone" }])).toEqual([comment("theirs"), comment("mine", "now"), comment("new")]);
});

test("what could not be sent waits and goes with the next try, in its order", async () => {
  const store = new ReviewDraftStore("p");
  const sent: CommentChange[][] = [];
  let works = false;
  const save = (changes: readonly CommentChange[]) => {
    if (!works) return Promise.reject(new Error("lost"));
    sent.push([...changes]);
    return Promise.resolve();
  };
  store.add({ put: comment("a") }, save);
  await store.save(save);
  expect(store.state).toMatchObject({ saving: "failed", pending: [{ put: { id: "a" } }] });
  works = true;
  store.add({ remove: "b" }, save);
  await store.save(save);
  expect(store.state).toMatchObject({ saving: "saved", pending: [] });
  expect(sent.flat()).toEqual([{ put: comment("a") }, { remove: "b" }]);
});

test("a half-written comment is there after a reload, and a copy of it after the tab's end", () => {
  new ReviewDraftStore("p").write({ id: "w", anchor: { quote: "words" }, kind: "replace", text: "half" });
  expect(new ReviewDraftStore("p").state.writing).toEqual({ id: "w", anchor: { quote: "words" }, kind: "replace", text: "half" });
  expect(new ReviewDraftStore("other").state.writing).toBeUndefined();
  sessionStorage.clear();
  const taken = new ReviewDraftStore("p").state.writing;
  expect(taken).toMatchObject({ anchor: { quote: "words" }, kind: "replace", text: "half" });
  expect(taken?.id).not.toBe("w");
});

test("a comment that was kept or dropped leaves nothing behind", () => {
  const store = new ReviewDraftStore("p");
  store.write({ id: "w", anchor: {}, kind: "comment", text: "half" });
  store.write(undefined);
  expect([sessionStorage.length, localStorage.length]).toEqual([0, 0]);
});
