import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { SessionId } from "../session/id";
import { Connection, type SocketLike } from "./connection";
import { Conversation } from "./conversation";

class FakeSocket implements SocketLike {
  readyState = 1;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  send(): void {}
  close(): void {}
}

const SESSION = { channel: "web", sessionId: "one", seq: 3, working: false };
const MESSAGES = { messages: [], next: null };

let socket: FakeSocket;
let connection: Connection;
/** Whether the server answers. */
let isUp: boolean;
let asked: number;

beforeEach(() => {
  vi.useFakeTimers();
  isUp = true;
  asked = 0;
  vi.stubGlobal("window", {});
  vi.stubGlobal("fetch", (path: string) => {
    asked += 1;
    if (!isUp) return Promise.reject(new TypeError("Failed to fetch"));
    return Promise.resolve(new Response(JSON.stringify(path.includes("/messages") ? MESSAGES : SESSION)));
  });
  connection = new Connection(
    () => (socket = new FakeSocket()),
    () => undefined,
  );
  connection.start();
});
afterEach(() => {
  connection.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function entered(): { conversation: Conversation; leave: () => void } {
  const conversation = new Conversation("web:one" as SessionId, connection, (draw) => draw());
  return { conversation, leave: conversation.enter() };
}

test("what got no answer is asked again by itself once there is a connection", async () => {
  isUp = false;
  const { conversation } = entered();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(conversation.state.status).toBe("failed");
  expect(asked).toBe(1);
  isUp = true;
  socket.onopen?.({} as never);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(conversation.state.status).toBe("ready");
});

test("what got no answer over a connection that stays is asked again until the person leaves", async () => {
  socket.onopen?.({} as never);
  isUp = false;
  const { conversation, leave } = entered();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(conversation.state.status).toBe("failed");
  expect(asked).toBeGreaterThan(2);
  leave();
  const before = asked;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toBe(before);
});
