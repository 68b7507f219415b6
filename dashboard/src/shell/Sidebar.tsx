import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { newId } from "../api/newId";
import { createSession } from "../api/decisions";
import { sessionSearchQuery, sessionsQuery } from "../api/queries";
import type { InboxItem, Session } from "../api/types";
import { inboxState } from "../pages/inboxItems";
import { useInbox } from "../pages/useInbox";
import { sessionIdOf, type SessionId } from "../session/id";
import { isHidden, useHiddenSessions } from "../session/deleting";
import { t } from "../texts/t";
import { errorWords, IconButton, Time } from "../ui/basics";
import { Icon } from "../ui/Icon";
import { StateDot, type PlanState } from "../ui/status";
import { say } from "../ui/toasts";
import { visible } from "../ui/hidden";
import { MOD } from "./keys";

export function Sidebar({ onPalette, inDrawer = false }: { onPalette: () => void; inDrawer?: boolean }): ReactNode {
  const { query: inbox, items } = useInbox();
  const begin = useNewSession();
  const count = items.length;
  return (
    <nav className="sidebar" data-drawer={inDrawer || undefined} aria-label={t("shell.navigation")}>
      <div className="sidebar-head">
        <Link to="/" className="brand">
          <img src="/icon.svg" alt="" width="22" height="22" />
          {t("app.name")}
        </Link>
        <button type="button" className="palette-open" onClick={onPalette} title={t("palette.open")}>
          <Icon name="search" size={14} />
          <span className="visually-hidden">{t("palette.open")}</span>
          <kbd className="keys">{MOD}K</kbd>
        </button>
      </div>
      <Link to="/" className="nav-row" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        <Icon name="inbox" />
        <span>{t("inbox.title")}</span>
        {count > 0 && (
          <span className="count" data-some>
            {count}
          </span>
        )}
      </Link>
      <div className="sidebar-label">
        <h2>{t("sessions.title")}</h2>
        <IconButton icon="plus" label={t("sessions.new")} onClick={() => begin.mutate()} />
      </div>
      <SessionList inbox={inbox.data ?? []} />
      <div className="sidebar-foot">
        <Link to="/settings" className="nav-row" activeProps={{ "aria-current": "page" }}>
          <Icon name="gear" />
          <span>{t("settings.title")}</span>
        </Link>
      </div>
    </nav>
  );
}

export function useNewSession() {
  const navigate = useNavigate();
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => createSession(newId()),
    onSuccess: (session) => {
      void client.invalidateQueries({ queryKey: ["sessions"] });
      // One types next.
      void navigate({ to: "/s/$session", params: { session: sessionIdOf(session) } }).then(() => requestAnimationFrame(() => document.getElementById("composer")?.focus()));
    },
    onError: (error) => say(t("sessions.newFailed", { why: errorWords(error) }), { tone: "failed" }),
  });
}

function SessionList({ inbox }: { inbox: readonly InboxItem[] }): ReactNode {
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const everything = useInfiniteQuery(sessionsQuery);
  const searched = useInfiniteQuery({ ...sessionSearchQuery(words), enabled: words !== "", placeholderData: keepPreviousData });
  const sessions = words === "" ? everything : searched;
  const { session: current } = useParams({ strict: false });
  const hidden = useHiddenSessions();
  const box = useRef<HTMLDivElement>(null);

  const all = useMemo(() => sessions.data?.pages.flatMap((page) => page.sessions) ?? [], [sessions.data]);
  const waiting = useMemo(() => {
    const found = new Map<SessionId, InboxItem>();
    for (const item of inbox) found.set(sessionIdOf(item), item);
    return found;
  }, [inbox]);
  const shown = useMemo(() => {
    const found = all.filter((session) => !isHidden(hidden, sessionIdOf(session)));
    // What waits for the person comes first, then what is under way.
    const rank = (session: Session) => (waiting.has(sessionIdOf(session)) ? 0 : session.working ? 1 : 2);
    return found.sort((a, b) => rank(a) - rank(b));
  }, [all, hidden, waiting]);

  // The virtualizer measures every row anew when this function is another one.
  const getItemKey = useCallback((index: number) => (shown[index] ? sessionIdOf(shown[index]) : index), [shown]);
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => 48,
    overscan: 8,
    getItemKey,
  });

  const { hasNextPage, isFetchingNextPage, fetchNextPage } = sessions;
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= all.length - 10) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, all.length]);

  return (
    <>
      {((everything.data?.pages[0]?.sessions.length ?? 0) > 8 || search !== "") && (
        <label className="session-search">
          <Icon name="search" size={14} />
          <span className="visually-hidden">{t("sessions.search")}</span>
          <input
            data-search
            type="search"
            value={search}
            placeholder={t("sessions.search")}
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                setSearch("");
                event.currentTarget.blur();
              }
            }}
          />
        </label>
      )}
      <div className="session-list" ref={box}>
        {sessions.isError && all.length === 0 && <p className="sidebar-words">{errorWords(sessions.error)}</p>}
        {sessions.isSuccess && shown.length === 0 && <p className="sidebar-words">{search === "" ? t("sessions.none") : t("sessions.noneFound")}</p>}
        <ul style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const session = shown[row.index];
            if (!session) return null;
            const id = sessionIdOf(session);
            return (
              <li key={row.key} style={{ transform: `translateY(${row.start}px)` }}>
                <SessionRow session={session} id={id} item={waiting.get(id)} current={current === id} />
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}

function SessionRow({ session, id, item, current }: { session: Session; id: SessionId; item: InboxItem | undefined; current: boolean }): ReactNode {
  const state: PlanState | "IDLE" = item ? inboxState(item) : session.working || session.activePlan?.status === "EXECUTING" ? "EXECUTING" : "IDLE";
  const progress = session.activePlan?.status === "EXECUTING" ? session.activePlan.progress : undefined;
  const working = progress ? t("session.step", { done: progress.done, total: progress.total }) : session.working ? t("session.working") : undefined;
  const words = item ? t(`session.waits.${item.kind}`) : working;
  return (
    <Link to="/s/$session" params={{ session: id }} className="session-row" aria-current={current ? "page" : undefined}>
      <StateDot state={state} label={words ?? t("session.idle")} />
      <span className="session-name" dir="auto">{sessionName(session)}</span>
      <span className="session-about">
        {words && <span data-tone={item?.kind === "failed" ? "failed" : item ? "waiting" : "running"}>{words}</span>}
        {session.channel !== "web" && <span>{session.channel}</span>}
        <Time at={session.lastActive} />
      </span>
    </Link>
  );
}

export function sessionName(session: Pick<Session, "title" | "topic" | "sessionId">): string {
  const name = (session.title ?? session.topic)?.replace(/\s+/g, " ").trim();
  if (name) return visible(name);
  // A key that the server made says nothing to a person.
  return /^[0-9a-f]{12}$/.test(session.sessionId) ? t("sessions.untitled") : session.sessionId;
}
