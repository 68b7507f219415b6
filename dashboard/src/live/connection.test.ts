import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { Connection, type SocketLike } from "./connection";
import type { SessionNews } from "./frames";

class FakeSocket implements SocketLike {
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }
  close(): void {}
  opens(): void {
    this.onopen?.({} as never);
  }
  hears(frame: Record<string, unknown>): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  breaks(code = 1006): void {
    this.onclose?.({ code });
  }
}

let sockets: FakeSocket[];
let refused: number;
let connection: Connection;
const socket = () => sockets.at(-1)!;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  refused = 0;
  connection = new Connection(
    () => {
      const made = new FakeSocket();
      sockets.push(made);
      return made;
    },
    () => (refused += 1),
  );
  connection.start();
  socket().opens();
});
afterEach(() => {
  connection.stop();
  vi.useRealTimers();
});

const entry = (sessionId: string, seq: number, channel = "web") => ({ type: "turn_begun", sessionId, channel, seq, event: { type: "turn_begun" } });
const seqs = (news: SessionNews[]) => news.flatMap((one) => (one.kind === "entry" ? [one.entry.seq] : []));

describe("the connection", () => {
  test("tells a session's followers only what is of that session", () => {
    const [a, b]: [SessionNews[], SessionNews[]] = [[], []];
    connection.follow("aaaaaaaa", (news) => a.push(news), 0);
    connection.follow("cli:aaaaaaaa", (news) => b.push(news), 0);
    socket().hears(entry("aaaaaaaa", 1));
    socket().hears(entry("aaaaaaaa", 1, "cli"));
    socket().hears(entry("cccccccc", 1));
    expect(seqs(a)).toEqual([1]);
    expect(seqs(b)).toEqual([1]);
  });

  test("continues behind the last entry after a break, and takes none twice", () => {
    const news: SessionNews[] = [];
    connection.follow("aaaaaaaa", (one) => news.push(one), 3);
    socket().hears(entry("aaaaaaaa", 4));
    socket().breaks();
    expect(connection.state.phase).toBe("waiting");
    vi.advanceTimersByTime(20_000);
    socket().opens();
    expect(sockets).toHaveLength(2);
    expect(socket().sent).toContainEqual({ type: "subscribe", sessionId: "aaaaaaaa", after: 4 });
    socket().hears(entry("aaaaaaaa", 4));
    socket().hears(entry("aaaaaaaa", 5));
    expect(seqs(news)).toEqual([4, 5]);
  });

  test("drops what a session that was left still sends", () => {
    const news: SessionNews[] = [];
    const leave = connection.follow("aaaaaaaa", (one) => news.push(one), 0);
    leave();
    socket().hears(entry("aaaaaaaa", 1));
    expect(news).toEqual([]);
    expect(socket().sent.at(-1)).toEqual({ type: "unsubscribe", sessionId: "aaaaaaaa" });
  });

  test("sends a message again under its key until it is answered", async () => {
    const outcome = connection.sendMessage("aaaaaaaa", "hello", "key-1");
    socket().breaks();
    vi.advanceTimersByTime(20_000);
    socket().opens();
    const frame = { type: "message", sessionId: "aaaaaaaa", text: "hello", id: "key-1", key: "key-1" };
    expect(sockets.map((one) => one.sent.filter((sent) => sent.type === "message"))).toEqual([[frame], [frame]]);
    socket().hears({ type: "answer", sessionId: "aaaaaaaa", channel: "web", seq: 7, id: "key-1", reply: "hi" });
    expect(await outcome).toMatchObject({ kind: "answer", seq: 7 });
    socket().breaks();
    vi.advanceTimersByTime(20_000);
    socket().opens();
    expect(socket().sent.filter((sent) => sent.type === "message")).toEqual([]);
  });

  test("asks about its credentials when the server ends it for that", () => {
    socket().breaks(1008);
    expect(refused).toBe(1);
  });

  test("gives up a connection on which nothing is heard", () => {
    vi.advanceTimersByTime(70_000);
    expect(sockets.length).toBeGreaterThan(1);
  });
});
