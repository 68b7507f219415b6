import { useInfiniteQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { journalBefore } from "../api/queries";
import type { Entry } from "../api/types";
import { connection } from "../live/live";
import { CodeBlock } from "../markdown/CodeBlock";
import { clockTime, exactTime, t, type TextKey } from "../texts/t";
import { en } from "../texts/en";
import { StateThen } from "../rooms/StateThen";
import { Button, Failure, Loading } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";

const GROUPS = ["all", "plan", "turn", "auto", "memory", "files", "workbook", "session"] as const;
type Group = (typeof GROUPS)[number];
const PAGE = 200;

/** What arrives live has no hash yet. */
type ShownEntry = Pick<Entry, "seq" | "at" | "by" | "type" | "event"> & { hash?: string };

/** Everything that happened in the session, in words; each entry unfolds to what is stored, and to the session as it was then. */
export function JournalRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  const [group, setGroup] = useState<Group>("all");
  const [search, setSearch] = useState("");
  const [live, setLive] = useState<ShownEntry[]>([]);
  /** The list begins with what was written until then; without a time, with the newest. */
  const [until, setUntil] = useState<string>();
  const [stateAt, setStateAt] = useState<number>();

  // From the end: the newest entries are read first, older ones on demand.
  const journal = useInfiniteQuery({
    queryKey: ["journal", session, until ?? null],
    initialPageParam: (until === undefined ? {} : { at: until }) as { before?: number; at?: string },
    queryFn: ({ pageParam, signal }) => journalBefore(session, { ...(pageParam.at === undefined && pageParam.before === undefined ? { before: NEWEST } : pageParam) }, PAGE, signal),
    getNextPageParam: (page): { before?: number; at?: string } | undefined => (page.next === null ? undefined : { before: page.next }),
    staleTime: Infinity,
    gcTime: 0,
  });

  useEffect(
    () =>
      connection.follow(session, (news) => {
        if (news.kind === "entry") setLive((before) => [...before.slice(-MOST_LIVE), news.entry]);
      }),
    [session],
  );

  const entries = useMemo(() => {
    const read = (journal.data?.pages ?? []).flatMap((page) => page.entries);
    const newest = read[0]?.seq ?? 0;
    const all: ShownEntry[] = until === undefined && journal.isSuccess ? [...live.filter((entry) => entry.seq > newest).reverse(), ...read] : read;
    const words = search.trim().toLowerCase();
    return all.filter((entry) => (group === "all" || groupOf(entry.type) === group) && (words === "" || JSON.stringify(entry).toLowerCase().includes(words)));
  }, [journal.data, journal.isSuccess, live, until, group, search]);

  const box = useRef<HTMLDivElement>(null);
  // The virtualizer measures every row anew when this function is another one.
  const getItemKey = useCallback((index: number) => entries[index]?.seq ?? index, [entries]);
  const rows = useVirtualizer({ count: entries.length, getScrollElement: () => box.current, estimateSize: () => 44, overscan: 12, getItemKey });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = journal;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= entries.length - 8) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, entries.length]);

  const failed = journal.isError ? journal : undefined;
  return (
    <div className="room journal">
      <div className="journal-tools">
        <div className="segments" role="group" aria-label={t("journal.filter")}>
          {GROUPS.map((one) => (
            <button key={one} type="button" aria-pressed={group === one} onClick={() => setGroup(one)}>
              {t(`journal.group.${one}`)}
            </button>
          ))}
        </div>
        <label className="session-search">
          <Icon name="search" size={14} />
          <span className="visually-hidden">{t("journal.search")}</span>
          <input type="search" value={search} placeholder={t("journal.search")} onChange={(event) => setSearch(event.target.value)} />
        </label>
        <label className="journal-time">
          <span>{t("journal.until")}</span>
          <input
            type="datetime-local"
            step={1}
            value={until === undefined ? "" : localTime(until)}
            onChange={(event) => {
              const time = event.target.value === "" ? undefined : new Date(event.target.value);
              setUntil(time === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString());
            }}
          />
        </label>
        {until !== undefined && <Button onClick={() => setUntil(undefined)}>{t("journal.newest")}</Button>}
      </div>
      {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {journal.isPending && !failed && <Loading />}
      <div className="journal-list" ref={box} tabIndex={0} role="group" aria-label={t("rooms.journal")}>
        <ol style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const entry = entries[row.index];
            return entry ? (
              <li key={row.key} ref={rows.measureElement} data-index={row.index} style={{ transform: `translateY(${row.start}px)` }}>
                <JournalRow entry={entry} onState={() => setStateAt(entry.seq)} />
              </li>
            ) : null;
          })}
        </ol>
        {journal.isSuccess && entries.length === 0 && !hasNextPage && <p className="state">{t("journal.none")}</p>}
      </div>
      {stateAt !== undefined && <StateThen session={session} seq={stateAt} onClose={() => setStateAt(undefined)} />}
    </div>
  );
}

/** Larger than any entry's number: the page of the newest. */
const NEWEST = Number.MAX_SAFE_INTEGER;
/** Live entries that are kept; older ones are read again when they are looked at. */
const MOST_LIVE = 2_000;

/** A time as the field for it wants it: the browser's own zone, without one. */
function localTime(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function JournalRow({ entry, onState }: { entry: ShownEntry; onState: () => void }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <div className="journal-row">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <span className="seq">{entry.seq}</span>
        <span className="journal-name">{eventName(entry.type)}</span>
        <span className="journal-about">
          <Visible text={about(entry)} />
        </span>
        <span className="secondary">{visible(entry.by.name)}</span>
        <time className="secondary" dateTime={entry.at} title={exactTime(entry.at)}>
          {clockTime(entry.at)}
        </time>
      </button>
      {open && (
        <div className="journal-entry">
          <div className="facts">
            <span>{exactTime(entry.at)}</span>
            <Button look="quiet" icon="clock" onClick={onState}>
              {t("journal.stateThen")}
            </Button>
          </div>
          <CodeBlock code={JSON.stringify(entry.event, null, 2)} language="json" label={<code>{entry.hash?.slice(0, 16) ?? ""}</code>} />
        </div>
      )}
    </div>
  );
}

/** What happened: in words of its own, else in those of its name. */
function eventName(type: string): string {
  const key = `event.${type}`;
  return key in en ? t(key as TextKey) : type.charAt(0).toUpperCase() + type.slice(1).replaceAll("_", " ");
}

function about(entry: ShownEntry): string {
  const event = entry.event as Record<string, unknown>;
  const reply = event.reply as { text?: string; calls?: { name: string }[] } | undefined;
  const words = event.text ?? reply?.text ?? event.feedback ?? event.reason ?? event.title ?? event.content ?? "";
  const calls = reply?.calls?.map((call) => call.name).join(", ") ?? "";
  const outcome = event.outcome as { status?: string; note?: string } | undefined;
  const text = [typeof words === "string" ? words : "", calls, outcome?.status ?? "", outcome?.note ?? ""].filter((part) => part !== "").join(" · ");
  return text.replace(/\s+/g, " ").slice(0, 200);
}

export function groupOf(type: string): Group {
  if (type.startsWith("turn_") || ["model_replied", "tool_ended", "questions_asked", "questions_answered", "permission_asked", "permission_answered", "permissions_counted", "compacted"].includes(type)) return "turn";
  if (type.startsWith("workbook_")) return "workbook";
  if (/^(?:goal|task|diary|run|schedule)_/.test(type)) return "auto";
  if (type.startsWith("memory_")) return "memory";
  if (type === "files_changed" || type === "changes_undone") return "files";
  if (type.startsWith("session_") || ["conversation_reset", "client_seen", "workspace_chosen"].includes(type)) return "session";
  return "plan";
}
