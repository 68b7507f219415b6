import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { AskCard, useSessionAsk } from "../ask/AskCard";
import type { Conversation, ConversationState } from "../live/conversation";
import { useLiveTurn } from "../live/useLive";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Button, Loading } from "../ui/basics";
import { LiveRow, MessageRow } from "./MessageRow";
import { keepRows, rows as makeRows, type Row } from "./rows";

/** A person who is this near to the end stays at the end when messages arrive, in pixels. */
const NEAR = 64;
/** Older messages are asked for this far before the beginning of what is known, in pixels. */
const AHEAD = 2_400;

export function MessageList({ conversation, state, empty }: { conversation: Conversation; state: ConversationState; empty: ReactNode }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const [away, setAway] = useState(false);
  const list = useRows(state);

  // The virtualizer measures every row anew when this function is another one.
  const getItemKey = useCallback((index: number) => list[index]?.key ?? index, [list]);
  const virtual = useVirtualizer({
    count: list.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimate(list[index]),
    overscan: 6,
    getItemKey,
    paddingStart: 16,
    // Older messages that come above leave what is in view where it is, before anything is drawn.
    anchorTo: "end",
    // A turn of the wheel and the sizes that it leads to are drawn together.
    useFlushSync: false,
  });
  const total = virtual.getTotalSize();

  const stayAtEnd = useCallback(() => {
    const element = box.current;
    if (element && stick.current) element.scrollTop = element.scrollHeight;
  }, []);

  useLayoutEffect(() => {
    stayAtEnd();
  }, [list, total, stayAtEnd]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const { scrollTop } = element;
    const rest = element.scrollHeight - scrollTop - element.clientHeight;
    stick.current = rest < NEAR;
    setAway(rest > 600);
    if (scrollTop < AHEAD) void conversation.loadOlder();
  }, [conversation]);

  // A short page has nothing to scroll: older messages are asked for until it is full.
  useEffect(() => {
    const element = box.current;
    if (element && state.older !== null && !state.loadingOlder && element.scrollHeight <= element.clientHeight) void conversation.loadOlder();
  }, [conversation, state.older, state.loadingOlder, total]);

  const dismiss = useCallback((key: string) => conversation.dismiss(key), [conversation]);
  return (
    <div className="messages-frame">
      {state.loadingOlder && (
        <div className="messages-older">
          <Loading words={t("chat.older")} />
        </div>
      )}
      <div className="messages" ref={box} onScroll={onScroll} role="log" aria-label={t("chat.log")} aria-live="polite" aria-busy={state.working} tabIndex={0}>
        {list.length === 0 && !state.working && state.status === "ready" && empty}
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
        <LiveArea conversation={conversation} onDrawn={stayAtEnd} />
        <AskArea session={conversation.session} onDrawn={stayAtEnd} />
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

/** What the agent does now, below the rows. It follows the conversation by itself. */
const LiveArea = memo(function LiveArea({ conversation, onDrawn }: { conversation: Conversation; onDrawn: () => void }): ReactNode {
  const live = useLiveTurn(conversation);
  useLayoutEffect(() => {
    onDrawn();
  }, [live, onDrawn]);
  return (
    live && (
      <div className="column">
        <LiveRow live={live} />
      </div>
    )
  );
});

/** What the agent asks now, after everything that was said. */
function AskArea({ session, onDrawn }: { session: SessionId; onDrawn: () => void }): ReactNode {
  const ask = useSessionAsk(session);
  useLayoutEffect(() => {
    onDrawn();
  }, [ask?.id, onDrawn]);
  return (
    ask && (
      <div className="column">
        <AskCard key={ask.id} item={ask} where="chat" />
      </div>
    )
  );
}

function useRows({ messages, outgoing }: ConversationState): Row[] {
  const before = useRef<Row[]>([]);
  const rows = useMemo(() => keepRows(before.current, makeRows(messages, outgoing)), [messages, outgoing]);
  useEffect(() => {
    before.current = rows;
  }, [rows]);
  return rows;
}

const estimates = new WeakMap<object, number>();

/** The height of a row that was not drawn yet. A good guess moves the page less when the row is measured. */
function estimate(row: Row | undefined): number {
  switch (row?.kind) {
    case "tools":
      return 40;
    case "plan":
      return 110;
    case "person":
    case "agent": {
      const known = estimates.get(row.message);
      if (known !== undefined) return known;
      const lines = row.message.text.split("\n").reduce((sum, line) => sum + (line === "" ? 0.5 : Math.ceil(line.length / 90)), 0);
      const height = 44 + Math.ceil(lines * 24);
      estimates.set(row.message, height);
      return height;
    }
    case "note":
    case "command":
    case "queued":
    case undefined:
      return 80;
  }
}
