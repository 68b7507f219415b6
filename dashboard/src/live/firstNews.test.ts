import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { ChangeListener, ConnectionState } from "./connection";
import { FirstNews } from "./firstNews";

let tell: ChangeListener;
let watchers: (() => void)[];
let connection: { state: ConnectionState; onChange: (listener: ChangeListener) => () => void; watch: (watcher: () => void) => () => void };

beforeEach(() => {
  vi.useFakeTimers();
  watchers = [];
  connection = {
    state: { phase: "connecting", lastHeard: undefined, retryAt: undefined },
    onChange: (listener) => ((tell = listener), () => undefined),
    watch: (watcher) => (watchers.push(watcher), () => undefined),
  };
});
afterEach(() => vi.useRealTimers());

async function isOver(news: FirstNews): Promise<boolean> {
  let over = false;
  void news.awaited.then(() => (over = true));
  await vi.advanceTimersByTimeAsync(0);
  return over;
}

test("requests wait until the server tells of changes, and only that first time is nothing old", async () => {
  const news = new FirstNews(connection);
  expect(await isOver(news)).toBe(false);
  tell({ session: "aaaaaaaa", kinds: ["plan"] });
  expect(await isOver(news)).toBe(false);
  tell({ session: undefined, kinds: [] });
  expect(news.isNow).toBe(true);
  expect(await isOver(news)).toBe(true);
  expect(news.isNow).toBe(false);
  // After a lost connection everything may be old.
  tell({ session: undefined, kinds: [] });
  expect(news.isNow).toBe(false);
});

test("on a slow network they do not wait, and are made again when the server tells of changes", async () => {
  const news = new FirstNews(connection);
  await vi.advanceTimersByTimeAsync(250);
  expect(await isOver(news)).toBe(true);
  tell({ session: undefined, kinds: [] });
  expect(news.isNow).toBe(false);
});

test("a connection that is refused holds nothing back", async () => {
  const news = new FirstNews(connection);
  connection.state = { ...connection.state, phase: "waiting" };
  watchers.forEach((watcher) => watcher());
  expect(await isOver(news)).toBe(true);
});
