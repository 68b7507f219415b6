import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { stateQuery } from "../api/queries";
import type { SessionId } from "../session/id";
import { exactTime, t } from "../texts/t";
import { Failure, Loading } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Visible } from "../ui/hidden";
import { PlanBadge } from "../ui/status";

/** The session as it was after an entry of its journal. */
export function StateThen({ session, seq, onClose }: { session: SessionId; seq: number; onClose: () => void }): ReactNode {
  const state = useQuery(stateQuery(session, seq));
  return (
    <Dialog open onClose={onClose} title={t("state.title", { seq })}>
      <div className="ask">
        {state.isPending && <Loading />}
        {state.isError && <Failure error={state.error} retry={() => void state.refetch()} />}
        {state.data && (
          <>
            <p className="secondary">{exactTime(state.data.at)}</p>
            <dl className="fields">
              <div>
                <dt>{t("state.mode")}</dt>
                <dd>{state.data.mode}</dd>
              </div>
            </dl>
            <section>
              <h3>{t("state.plans")}</h3>
              {state.data.plans.length === 0 && <p className="secondary">{t("state.noPlans")}</p>}
              <ul className="rows">
                {state.data.plans.map((plan) => (
                  <li key={plan.planId} className="row">
                    <PlanBadge state={plan.status} />
                    <div className="row-main">
                      <Link to="/p/$plan" params={{ plan: plan.planId }}>
                        {t("plan.short", { n: plan.number })} <Visible text={plan.title} />
                      </Link>
                    </div>
                    <span className="secondary">{t("plan.version", { n: plan.version })}</span>
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </div>
    </Dialog>
  );
}
