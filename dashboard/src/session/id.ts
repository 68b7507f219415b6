import type { Channel } from "../api/types";

/**
 * The name of a session in addresses and cache keys: the key alone for the channel `web`, else `channel:key`.
 * Keys have no colon, so the two never mix.
 */
export type SessionId = string;

const CHANNELS: readonly Channel[] = ["web", "telegram", "cli", "mcp", "acp", "legacy"];

export function sessionIdOf(session: { sessionId: string; channel: string }): SessionId {
  return session.channel === "web" ? session.sessionId : `${session.channel}:${session.sessionId}`;
}

/** How the REST API names it. */
export function sessionQuery(id: SessionId): { sessionId: string; channel?: Channel } {
  const colon = id.indexOf(":");
  if (colon < 0) return { sessionId: id };
  const channel = CHANNELS.find((known) => known === id.slice(0, colon));
  const sessionId = id.slice(colon + 1);
  return channel === undefined || channel === "web" ? { sessionId } : { sessionId, channel };
}

export function sessionLabel(id: SessionId): string {
  return id;
}
