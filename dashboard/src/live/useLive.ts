import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { connection, isFirstNews } from "./live";
import { Conversation, type ConversationState } from "./conversation";
import type { LiveTurn } from "./liveTurn";
import { Invalidator } from "./news";
import type { SessionId } from "../session/id";

/** The sessions whose conversation is kept after one leaves them. */
const MAX_CONVERSATIONS = 12;
const conversations = new Map<SessionId, Conversation>();

export function conversationOf(session: SessionId): Conversation {
  const found = conversations.get(session) ?? new Conversation(session, connection);
  conversations.delete(session);
  conversations.set(session, found);
  for (const oldest of conversations.keys()) {
    if (conversations.size <= MAX_CONVERSATIONS) break;
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

/** What the agent does in a session now. Only the row that shows it is drawn again with each piece of text. */
export function useLiveTurn(conversation: Conversation): LiveTurn | undefined {
  return useSyncExternalStore(conversation.subscribe, () => conversation.live);
}

/** Lists and plans change when something happens in any session. */
export function useWatchSessions(): void {
  const client = useQueryClient();
  useEffect(() => {
    const invalidator = new Invalidator(client, 150);
    return connection.onChange((change) => {
      if (!isFirstNews()) invalidator.takeChange(change);
    });
  }, [client]);
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

