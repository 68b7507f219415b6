import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { inboxQuery, recentPlansQuery } from "../api/queries";
import type { InboxItem } from "../api/types";
import { sessionIdOf } from "../session/id";
import { SessionName } from "../session/SessionName";
import { useKeys } from "../shell/keys";
import { PageHead } from "../shell/Shell";
import { useNewSession } from "../shell/Sidebar";
import { t } from "../texts/t";
import { Button, Empty, Failure, Loading, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { StateDot, type PlanState } from "../ui/status";
import { byUrgency, inboxAsk, inboxItemKey, inboxTitle, isAboutPlan } from "./inboxItems";

/** What is needed to read a plan comes with the first one that is opened: the list is there before it. */
const ItemDetail = lazy(() => import("./InboxDetail").then(({ InboxDetail }) => ({ default: InboxDetail })));

/** Everything that waits for a person, over all sessions. */
export function InboxPage(): ReactNode {
  const inbox = useQuery(inboxQuery);
  const begin = useNewSession();
  const navigate = useNavigate({ from: "/" });
  const { item: chosen } = useSearch({ from: "/" });
  const items = useMemo(() => byUrgency(inbox.data ?? []), [inbox.data]);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const open = items.find((item) => item.id === chosen);

  const chosenAt = items.findIndex((item) => item.id === chosen);
  useEffect(() => {
    if (chosenAt >= 0) setAt(chosenAt);
  }, [chosenAt]);
  useEffect(() => {
    setAt((before) => Math.min(before, Math.max(0, items.length - 1)));
  }, [items.length]);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const choose = (item: InboxItem | undefined) => {
    if (!item) return;
    // Beside the list where there is room for both. What an agent asks has no page of its own.
    const beside = !isAboutPlan(item) || window.matchMedia("(min-width: 1100px)").matches;
    if (beside || item.planId === undefined) void navigate({ search: { item: item.id }, replace: chosen !== undefined });
    else void navigate({ to: "/p/$plan", params: { plan: item.planId } });
  };
  useKeys({
    j: () => setAt(Math.min(at + 1, items.length - 1)),
    k: () => setAt(Math.max(at - 1, 0)),
    Enter: () => choose(items[at]),
    o: () => items[at]?.planId !== undefined && void navigate({ to: "/p/$plan", params: { plan: items[at].planId } }),
  });

  return (
    <main id="main" tabIndex={-1} className="page inbox-page">
      <PageHead title={t("inbox.title")} about={inbox.data && <span>{t("inbox.count", { count: items.length })}</span>} />
      <div className="inbox-grid" data-open={open !== undefined || undefined}>
        <div className="inbox-list">
          {inbox.isPending && <Loading words={t("inbox.loading")} />}
          {inbox.isError && <Failure error={inbox.error} retry={() => void inbox.refetch()} safe={t("inbox.safe")} />}
          {inbox.isSuccess && items.length === 0 && (
            <Empty title={t("inbox.empty")} action={<Button look="primary" icon="plus" onClick={() => begin.mutate()}>{t("sessions.new")}</Button>}>
              <p>{t("inbox.emptyWords")}</p>
              <Recent />
            </Empty>
          )}
          <ul ref={list} aria-label={t("inbox.title")}>
            {items.map((item, index) => (
              <li key={inboxItemKey(item)}>
                <button type="button" className="inbox-row" data-at={index === at || undefined} aria-current={item.id === chosen || undefined} onFocus={() => setAt(index)} onClick={() => choose(item)}>
                  <StateDot state={STATES[item.kind] ?? "READY"} />
                  <span className="inbox-what">
                    <span className="inbox-kind" data-tone={item.kind === "failed" ? "failed" : undefined}>{inboxTitle(item)}</span>
                    <span className="inbox-name">
                      <Visible text={item.title} />
                    </span>
                    <span className="inbox-ask"><Visible text={item.kind === "failed" ? inboxAsk(item) : (item.step?.description ?? inboxAsk(item))} /></span>
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
            ))}
          </ul>
        </div>
        {open && (
          <section className="inbox-detail" data-ask={!isAboutPlan(open) || undefined} aria-label={inboxTitle(open)}>
            <Suspense fallback={<Loading />}>
              <ItemDetail item={open} />
            </Suspense>
          </section>
        )}
      </div>
    </main>
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
              <StateDot state={plan.status} />
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

const STATES: Record<InboxItem["kind"], PlanState> = { plan: "READY", permission: "UNCERTAIN", question: "UNCERTAIN", uncertain: "UNCERTAIN", failed: "FAILED", refused: "UNCERTAIN", step: "PAUSED", run: "PAUSED", budget: "PAUSED", tool_change: "UNCERTAIN" };
