import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { connection } from "./live";
import { Conversation, type ConversationState } from "./conversation";
import { Invalidator } from "./news";
import type { Session } from "../api/types";
import { sessionIdOf, type SessionId } from "../session/id";

/** The sessions whose conversation is kept after one leaves them. */
const KEPT = 12;
const conversations = new Map<SessionId, Conversation>();

export function conversationOf(session: SessionId): Conversation {
  const found = conversations.get(session) ?? new Conversation(session, connection);
  conversations.delete(session);
  conversations.set(session, found);
  for (const oldest of conversations.keys()) {
    if (conversations.size <= KEPT) break;
    conversations.delete(oldest);
  }
  return found;
}

export function forgetConversation(session: SessionId): void {
  conversations.delete(session);
}

export function useConversation(session: SessionId): [Conversation, ConversationState] {
  const conversation = conversationOf(session);
  const client = useQueryClient();
  useEffect(() => {
    const invalidator = new Invalidator(client);
    const quiet = conversation.onNews((news) => invalidator.take(session, news));
    const leave = conversation.enter();
    return () => {
      quiet();
      leave();
    };
  }, [conversation, session, client]);
  const state = useSyncExternalStore(conversation.subscribe, () => conversation.state);
  return [conversation, state];
}

/** How many sessions are followed for the lists. The server allows 256 for one connection. */
const FOLLOWED = 60;

/** Follows the sessions that were active last, so that lists and plans change when something happens there. */
export function useFollowSessions(sessions: readonly Session[]): void {
  const client = useQueryClient();
  const ids = sessions.slice(0, FOLLOWED).map(sessionIdOf).sort().join(" ");
  useEffect(() => {
    const invalidator = new Invalidator(client, 150);
    const leave = ids
      .split(" ")
      .filter((id) => id !== "")
      .map((id) => connection.follow(id, (news) => invalidator.take(id, news)));
    return () => leave.forEach((one) => one());
  }, [ids, client]);
}

/** Follows the session of the plan that is open. */
export function useFollowSession(session: SessionId | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (session === undefined) return;
    const invalidator = new Invalidator(client);
    return connection.follow(session, (news) => invalidator.take(session, news));
  }, [session, client]);
}

