import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { recentPlansQuery, sessionsQuery } from "../api/queries";
import type { InboxItem } from "../api/types";
import { ListedState } from "../plan/ListedState";
import { sessionIdOf } from "../session/id";
import { SessionName } from "../session/SessionName";
import { useKeys } from "../shell/keys";
import { PageHead } from "../shell/Shell";
import { sessionName, useNewSession } from "../shell/Sidebar";
import { t } from "../texts/t";
import { Button, Empty, Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { StateDot } from "../ui/status";
import { inboxAsk, inboxItemKey, inboxState, inboxTitle, inboxWords, isAboutPlan, isAsk } from "./inboxItems";
import { hasWords, InboxTools, inView } from "./InboxTools";
import { bringBack, setNotNow } from "./notNow";
import { useInbox } from "./useInbox";

/** What is needed to read a plan comes with the first one that is opened: the list is there before it. */
const ItemDetail = lazy(() => import("./InboxDetail").then(({ InboxDetail }) => ({ default: InboxDetail })));

const EnrolOffer = lazy(() => import("../approval/EnrolOffer").then(({ EnrolOffer }) => ({ default: EnrolOffer })));

/** Everything that waits for a person, over all sessions. */
export function InboxPage(): ReactNode {
  const { query: inbox, items, later } = useInbox();
  const begin = useNewSession();
  const navigate = useNavigate({ from: "/" });
  const { item: chosen, view = "all" } = useSearch({ from: "/" });
  const [words, setWords] = useState("");
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const sessions = useInfiniteQuery(sessionsQuery).data;
  const shown = useMemo(() => {
    const names = new Map(sessions?.pages.flatMap((page) => page.sessions).map((one) => [sessionIdOf(one), sessionName(one)]));
    const said = (item: InboxItem) => [inboxTitle(item), item.title, inboxAsk(item), sessionIdOf(item), names.get(sessionIdOf(item)) ?? ""].join(" ");
    return inView(view, items, later).filter((item) => words.trim() === "" || hasWords(words, said(item)));
  }, [view, items, later, words, sessions]);
  const open = [...items, ...later].find((item) => item.id === chosen);

  const chosenAt = shown.findIndex((item) => item.id === chosen);
  useEffect(() => {
    if (chosenAt >= 0) setAt(chosenAt);
  }, [chosenAt]);
  useEffect(() => {
    setAt((before) => Math.min(before, Math.max(0, shown.length - 1)));
  }, [shown.length]);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const choose = (item: InboxItem | undefined) => {
    if (!item) return;
    // Beside the list where there is room for both. What an agent asks has no page of its own.
    const beside = !isAboutPlan(item) || window.matchMedia("(min-width: 1100px)").matches;
    if (beside || item.planId === undefined) void navigate({ search: view === "all" ? { item: item.id } : { item: item.id, view }, replace: chosen !== undefined });
    else void navigate({ to: "/p/$plan", params: { plan: item.planId } });
  };
  const tick = (item: InboxItem | undefined) => {
    if (!item) return;
    const next = new Set(ticked);
    if (!next.delete(inboxItemKey(item))) next.add(inboxItemKey(item));
    setTicked(next);
  };
  const picked = shown.map(inboxItemKey).filter((key) => ticked.has(key));
  const putOff = (keys: readonly string[]) => {
    if (view === "later") bringBack(keys);
    else setNotNow(keys);
    setTicked(new Set());
  };
  useKeys({
    j: () => setAt(Math.min(at + 1, shown.length - 1)),
    k: () => setAt(Math.max(at - 1, 0)),
    Enter: () => choose(shown[at]),
    x: () => tick(shown[at]),
    s: () => putOff(picked.length > 0 ? picked : shown.slice(at, at + 1).map(inboxItemKey)),
    o: () => shown[at]?.planId !== undefined && void navigate({ to: "/p/$plan", params: { plan: shown[at].planId } }),
  });

  return (
    <main id="main" tabIndex={-1} className="page inbox-page">
      <PageHead title={t("inbox.title")} about={inbox.data && <span>{t("inbox.count", { count: items.length })}</span>} />
      <Suspense fallback={null}>
        <EnrolOffer />
      </Suspense>
      <div className="inbox-grid" data-open={open === undefined ? undefined : isAboutPlan(open) ? "plan" : "ask"}>
        <div className="inbox-list">
          {inbox.isPending && <Loading words={t("inbox.loading")} />}
          {inbox.isError && <Failure error={inbox.error} retry={() => void inbox.refetch()} safe={t("inbox.safe")} />}
          {items.length + later.length > 0 && (
            <InboxTools items={items} later={later} view={view} onView={(next) => void navigate({ search: next === "all" ? {} : { view: next } })} words={words} onWords={setWords} ticked={picked.length} onTicked={() => putOff(picked)} />
          )}
          {inbox.isSuccess && items.length === 0 && view === "all" && (
            <Empty title={t("inbox.empty")} action={<Button look="primary" icon="plus" onClick={() => begin.mutate()}>{t("sessions.new")}</Button>}>
              <p>{t("inbox.emptyWords")}</p>
              <Recent />
            </Empty>
          )}
          {shown.length === 0 && (view !== "all" || words !== "") && <p className="state">{t("inbox.noneInView")}</p>}
          <ul ref={list} aria-label={t("inbox.title")}>
            {shown.map((item, index) => (
              <InboxRow key={inboxItemKey(item)} item={item} isAt={index === at} isOpen={item.id === chosen} isTicked={ticked.has(inboxItemKey(item))} onFocus={() => setAt(index)} onChoose={() => choose(item)} onTick={() => tick(item)} />
            ))}
          </ul>
        </div>
        {open && (
          <section className="inbox-detail" data-ask={!isAboutPlan(open) || undefined} aria-label={isAsk(open) ? undefined : inboxTitle(open)}>
            <Link className="inbox-back" to="/" search={view === "all" ? {} : { view }}>
              <Icon name="chevron" size={12} /> {t("inbox.back")}
            </Link>
            <Suspense fallback={<Loading />}>
              <ItemDetail item={open} />
            </Suspense>
          </section>
        )}
      </div>
    </main>
  );
}

interface InboxRowProps {
  item: InboxItem;
  /** Whether the keyboard is at it. */
  isAt: boolean;
  isOpen: boolean;
  isTicked: boolean;
  onFocus: () => void;
  onChoose: () => void;
  onTick: () => void;
}

function InboxRow({ item, isAt, isOpen, isTicked, onFocus, onChoose, onTick }: InboxRowProps): ReactNode {
  const words = inboxWords(item);
  return (
    <li className="inbox-line" data-ticked={isTicked || undefined}>
      <label className="inbox-tick">
        <input type="checkbox" checked={isTicked} aria-label={t("inbox.tick", { title: visible(item.title) })} onFocus={onFocus} onChange={onTick} />
      </label>
      <button type="button" className="inbox-row" data-at={isAt || undefined} aria-current={isOpen || undefined} onFocus={onFocus} onClick={onChoose}>
        <StateDot state={inboxState(item)} />
        <span className="inbox-what">
          <span className="inbox-kind" data-tone={item.kind === "failed" ? "failed" : undefined}>{inboxTitle(item)}</span>
          <span className="inbox-name" dir="auto">
            <Visible text={item.title} />
          </span>
          {words !== undefined && (
            <span className="inbox-ask">
              <Visible text={words} />
            </span>
          )}
        </span>
        <span className="inbox-where">
          <Time at={item.since} />
          {item.sessionId !== "" && (
            <span>
              <SessionName session={sessionIdOf(item)} />
            </span>
          )}
        </span>
      </button>
    </li>
  );
}

/** The plans that ended last. */
function Recent(): ReactNode {
  const recent = useQuery(recentPlansQuery).data ?? [];
  if (recent.length === 0) return null;
  return (
    <section className="recent" aria-label={t("inbox.recent")}>
      <h2>{t("inbox.recent")}</h2>
      <ul>
        {recent.map((plan) => (
          <li key={plan.id}>
            <Link to="/p/$plan" params={{ plan: plan.id }}>
              <ListedState plan={plan} />
              <span>
                <Visible text={plan.title} />
              </span>
              <Time at={plan.updatedAt} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
