import { expect, test } from "vitest";

import { SaveQueue } from "./saveQueue";

test("saves follow each other, and of those that wait only the newest is sent", async () => {
  const queue = new SaveQueue();
  const sent: string[] = [];
  const told: boolean[] = [];
  let answer: (isSaved: boolean) => void = () => undefined;
  const save = (name: string) => () => {
    sent.push(name);
    return new Promise<void>((resolve, reject) => (answer = (isSaved) => (isSaved ? resolve() : reject(new Error("lost")))));
  };
  const tell = (isSaved: boolean) => told.push(isSaved);
  queue.add(save("one"), tell);
  queue.add(save("two"), tell);
  queue.add(save("three"), tell);
  expect(sent).toEqual(["one"]);
  answer(false);
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  expect(sent).toEqual(["one", "three"]);
  expect(told).toEqual([]);
  answer(true);
  await new Promise((resolve) => setTimeout(resolve));
  expect(told).toEqual([true]);
  queue.add(save("four"), tell);
  answer(false);
  await new Promise((resolve) => setTimeout(resolve));
  expect(told).toEqual([true, false]);
});
