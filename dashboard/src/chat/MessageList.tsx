import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";

import type { Conversation, ConversationState } from "../live/conversation";
import { t } from "../texts/t";
import { Button, Loading } from "../ui/basics";
import { LiveRow, MessageRow } from "./MessageRow";
import { rows as makeRows, type Row } from "./rows";

/** A person who is this near to the end stays at the end when messages arrive, in pixels. */
const NEAR = 64;

export function MessageList({ conversation, state, empty }: { conversation: Conversation; state: ConversationState; empty: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const anchor = useRef<{ key: string; within: number } | undefined>(undefined);
  const [away, setAway] = useState(false);
  const list = useMemo(() => makeRows(state.messages, state.outgoing), [state.messages, state.outgoing]);

  const virtual = useVirtualizer({
    count: list.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimate(list[index]),
    overscan: 3,
    getItemKey: (index) => list[index]?.key ?? index,
    paddingStart: 16,
  });
  const total = virtual.getTotalSize();
  const first = list[0]?.key;
  const firstBefore = useRef(first);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (stick.current) {
      element.scrollTop = element.scrollHeight;
    } else if (firstBefore.current !== first && anchor.current) {
      // Older messages came above: what was in view stays where it is.
      const index = list.findIndex((row) => row.key === anchor.current?.key);
      const start = virtual.measurementsCache[index]?.start;
      if (start !== undefined) element.scrollTop = start + anchor.current.within;
    }
    firstBefore.current = first;
  }, [list, total, first, state.live, virtual]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    stick.current = rest < NEAR;
    setAway(rest > 600);
    const item = virtual.getVirtualItemForOffset(element.scrollTop);
    const row = item && list[item.index];
    anchor.current = row && { key: row.key, within: element.scrollTop - item.start };
    if (element.scrollTop < 600) void conversation.loadOlder();
  }, [conversation, list, virtual]);

  // A short page has nothing to scroll: older messages are asked for until it is full.
  useEffect(() => {
    const element = box.current;
    if (element && state.older !== null && !state.loadingOlder && element.scrollHeight <= element.clientHeight) void conversation.loadOlder();
  }, [conversation, state.older, state.loadingOlder, total]);

  const dismiss = useCallback((key: string) => conversation.dismiss(key), [conversation]);
  const isEmpty = list.length === 0 && !state.live;
  return (
    <div className="messages-frame">
      <div className="messages" ref={box} onScroll={onScroll} role="log" aria-label={t("chat.log")} aria-live="polite" aria-busy={state.live !== undefined} tabIndex={0}>
        {state.loadingOlder && <Loading words={t("chat.older")} />}
        {isEmpty && state.status === "ready" && empty}
        <div className="messages-rows" style={{ height: total }}>
          {virtual.getVirtualItems().map((item) => {
            const row = list[item.index];
            return row ? (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="messages-row" style={{ transform: `translateY(${item.start}px)` }}>
                <div className="column">
                  <MessageRow row={row} session={conversation.session} onDismiss={dismiss} />
                </div>
              </div>
            ) : null;
          })}
        </div>
        {state.live && (
          <div className="column">
            <LiveRow live={state.live} />
          </div>
        )}
      </div>
      {away && (
        <Button
          className="to-end"
          onClick={() => {
            stick.current = true;
            box.current?.scrollTo({ top: box.current.scrollHeight });
          }}
        >
          {t("chat.toEnd")}
        </Button>
      )}
    </div>
  );
}

function estimate(row: Row | undefined): number {
  switch (row?.kind) {
    case "tools":
      return 40;
    case "plan":
      return 110;
    case "person":
    case "agent":
      return 60 + Math.ceil(row.message.text.length / 90) * 24;
    case "note":
    case "command":
    case "queued":
    case undefined:
      return 80;
  }
}
