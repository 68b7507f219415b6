import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { fetchSession, journalPage } from "../api/queries";
import type { Entry } from "../api/types";
import { connection } from "../live/live";
import { CodeBlock } from "../markdown/CodeBlock";
import { clockTime, exactTime, t, type TextKey } from "../texts/t";
import { en } from "../texts/en";
import { Failure, Loading } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";

const GROUPS = ["all", "plan", "turn", "workbook", "session"] as const;
type Group = (typeof GROUPS)[number];
const PAGE = 200;

/** What arrives live has no hash yet. */
type ShownEntry = Pick<Entry, "seq" | "at" | "by" | "type" | "event"> & { hash?: string };

/** Everything that happened in the session, in words; each entry unfolds to what is stored. */
export function JournalRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  const [group, setGroup] = useState<Group>("all");
  const [search, setSearch] = useState("");
  const [live, setLive] = useState<ShownEntry[]>([]);
  // Where this visit began; what comes later is told.
  const head = useQuery({ queryKey: ["journal-head", session], queryFn: ({ signal }) => fetchSession(session, signal), staleTime: Infinity, gcTime: 0 });
  const start = head.data ? Math.max(0, head.data.seq - PAGE) : undefined;

  // From the end: the newest entries are read first, older ones on demand.
  const journal = useInfiniteQuery({
    queryKey: ["journal", session, start ?? null],
    enabled: start !== undefined,
    initialPageParam: start ?? 0,
    queryFn: async ({ pageParam, signal }) => {
      const until = Math.min(pageParam + PAGE, head.data?.seq ?? 0);
      const entries: Entry[] = [];
      for (let after = pageParam; after < until; ) {
        const page = await journalPage(session, after, until - after, signal);
        entries.push(...page.entries);
        const last = page.entries.at(-1)?.seq ?? until;
        after = Math.max(last, page.next ?? last, after + 1);
      }
      return { from: pageParam, entries };
    },
    getNextPageParam: (page) => (page.from > 0 ? Math.max(0, page.from - PAGE) : undefined),
    staleTime: Infinity,
  });

  useEffect(
    () =>
      connection.follow(session, (news) => {
        if (news.kind === "entry") setLive((before) => [...before, news.entry]);
      }),
    [session],
  );

  const entries = useMemo(() => {
    const read = (journal.data?.pages ?? []).flatMap((page) => [...page.entries].reverse());
    const newest = head.data?.seq ?? Number.MAX_SAFE_INTEGER;
    const all: ShownEntry[] = [...live.filter((entry) => entry.seq > newest).reverse(), ...read];
    const words = search.trim().toLowerCase();
    return all.filter((entry) => (group === "all" || groupOf(entry.type) === group) && (words === "" || JSON.stringify(entry).toLowerCase().includes(words)));
  }, [journal.data, live, head.data?.seq, group, search]);

  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: entries.length, getScrollElement: () => box.current, estimateSize: () => 44, overscan: 12, getItemKey: (index) => entries[index]?.seq ?? index });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = journal;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= entries.length - 8) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, entries.length]);

  const failed = head.isError ? head : journal.isError ? journal : undefined;
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
      </div>
      {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {journal.isPending && !failed && <Loading />}
      <div className="journal-list" ref={box} tabIndex={0} role="group" aria-label={t("rooms.journal")}>
        <ol style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const entry = entries[row.index];
            return entry ? (
              <li key={row.key} ref={rows.measureElement} data-index={row.index} style={{ transform: `translateY(${row.start}px)` }}>
                <JournalRow entry={entry} />
              </li>
            ) : null;
          })}
        </ol>
        {journal.isSuccess && entries.length === 0 && !hasNextPage && <p className="state">{t("journal.none")}</p>}
      </div>
    </div>
  );
}

function JournalRow({ entry }: { entry: ShownEntry }): ReactNode {
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
        <span className="secondary">{entry.by.name}</span>
        <time className="secondary" dateTime={entry.at} title={exactTime(entry.at)}>
          {clockTime(entry.at)}
        </time>
      </button>
      {open && <CodeBlock code={JSON.stringify(entry.event, null, 2)} language="json" label={<code>{entry.hash?.slice(0, 16) ?? ""}</code>} />}
    </div>
  );
}

function eventName(type: string): string {
  const key = `event.${type}`;
  return key in en ? t(key as TextKey) : type;
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

function groupOf(type: string): Group {
  if (type.startsWith("turn_") || type === "model_replied" || type === "tool_ended") return "turn";
  if (type.startsWith("workbook_")) return "workbook";
  if (["session_opened", "conversation_reset", "compacted"].includes(type)) return "session";
  return "plan";
}
