// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { Connection } from "./connection";
import { takeEarlyAnswer, takeEarlySocket } from "./early";

/** The part of a WebSocket that is used. */
class FakeSocket {
  readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  sent: string[] = [];
  send(text: string): void {
    this.sent.push(text);
  }
  close(): void {
    this.readyState = 3;
  }
}

let socket: FakeSocket;
beforeEach(() => {
  vi.useFakeTimers();
  socket = new FakeSocket();
  const answers = new Map([["/api/plans/1", Promise.resolve(new Response("{}"))]]);
  window.planwrightEarly = { socket: socket as unknown as WebSocket, frames: [], answers };
});
afterEach(() => {
  vi.useRealTimers();
  delete window.planwrightEarly;
});

function connected(): { connection: Connection; heard: (string | undefined)[]; opened: () => number } {
  let opened = 0;
  const connection = new Connection(
    () => {
      opened += 1;
      return takeEarlySocket() ?? new FakeSocket();
    },
    () => undefined,
  );
  const heard: (string | undefined)[] = [];
  connection.onChange(({ session }) => heard.push(session));
  connection.start();
  return { connection, heard, opened: () => opened };
}

const CHANGED = JSON.stringify({ type: "changed", sessionId: "one", channel: "web", kinds: [] });

test("what came before the page was there is heard, in its order, and the server is told once to watch", () => {
  window.planwrightEarly?.frames.push('{"type":"watching"}');
  const { connection, heard } = connected();
  expect(connection.state.phase).toBe("connecting");
  vi.advanceTimersByTime(1);
  expect(connection.state.phase).toBe("open");
  expect(heard).toEqual([undefined]);
  expect(socket.sent).toEqual([]);
  socket.onmessage?.({ data: CHANGED });
  vi.advanceTimersByTime(1);
  expect(heard).toEqual([undefined, "one"]);
  connection.stop();
  expect(socket.readyState).toBe(3);
});

test("a connection that is still being made is taken over", () => {
  socket.readyState = 0;
  const { connection } = connected();
  vi.advanceTimersByTime(10);
  expect(connection.state.phase).toBe("connecting");
  socket.readyState = 1;
  socket.onopen?.();
  expect(connection.state.phase).toBe("open");
  expect(socket.sent).toEqual(['{"type":"watch"}']);
  connection.stop();
});

test("one that was refused is not, and after a lost one another is opened", () => {
  socket.readyState = 3;
  expect(takeEarlySocket()).toBeUndefined();
  socket.readyState = 1;
  const { connection, opened } = connected();
  vi.advanceTimersByTime(1);
  socket.readyState = 3;
  socket.onclose?.({ code: 1006 });
  expect(connection.state.phase).toBe("waiting");
  vi.advanceTimersByTime(1_000);
  expect(opened()).toBe(2);
  connection.stop();
});

test("an answer counts once, for a few seconds, and not after a change", async () => {
  expect(await takeEarlyAnswer("/api/plans/1")).toBeInstanceOf(Response);
  expect(takeEarlyAnswer("/api/plans/1")).toBeUndefined();
  const answer = () => window.planwrightEarly?.answers.set("/api/plans/1", Promise.resolve(new Response("{}")));
  answer();
  const { connection } = connected();
  socket.onmessage?.({ data: CHANGED });
  expect(takeEarlyAnswer("/api/plans/1")).toBeUndefined();
  answer();
  vi.advanceTimersByTime(10_000);
  expect(takeEarlyAnswer("/api/plans/1")).toBeUndefined();
  connection.stop();
});
