import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";

import { planDiffQuery, planHistoryQuery } from "../api/queries";
import type { Plan } from "../api/types";
import { t } from "../texts/t";
import { Failure, Loading, Time } from "../ui/basics";
import { diffSize, SizeBadge } from "./diffSize";
import { DiffView } from "./DiffView";
import { RenderedDiff } from "./RenderedDiff";
import { markShown, useWasShown } from "./shownText";

/** What changed between two versions, as it is written or as it is read. */
export function PlanChanges({ plan, from, to, onChoose }: { plan: Plan; from: number | undefined; to: number | undefined; onChoose: (from: number | undefined, to: number | undefined) => void }): ReactNode {
  const history = useQuery(planHistoryQuery(plan.id));
  const diff = useQuery(planDiffQuery(plan.id, from, to));
  const versions = history.data?.versions ?? [];
  const [look, setLook] = useState<"rendered" | "source">("source");
  // Who has seen a version has seen the next one with the difference between them.
  const baseDigest = versions.find((version) => version.version === (from ?? plan.version - 1))?.digest ?? "";
  const wasBaseShown = useWasShown(baseDigest);
  const isWhole = diff.isSuccess && wasBaseShown && (to ?? plan.version) === plan.version;
  useEffect(() => {
    if (isWhole) markShown(plan.digest);
  }, [isWhole, plan.digest]);
  const last = to ?? versions.at(-1)?.version;
  const compared = versions.length > 1 && last !== undefined && (from ?? last - 1) > 0 ? { from: from ?? last - 1, to: last } : undefined;
  return (
    <section className="plan-changes">
      {versions.length > 1 ? (
        <div className="compare">
          <label>
            <span>{t("compare.from")}</span>
            <select value={from ?? ""} onChange={(event) => onChoose(event.target.value === "" ? undefined : Number(event.target.value), to)}>
              <option value="">{t("compare.previous")}</option>
              {versions.map((version) => (
                <option key={version.version} value={version.version}>
                  {t("plan.version", { n: version.version })}
                </option>
              ))}
            </select>
          </label>
          <label>
            <span>{t("compare.to")}</span>
            <select value={to ?? ""} onChange={(event) => onChoose(from, event.target.value === "" ? undefined : Number(event.target.value))}>
              <option value="">{t("compare.latest")}</option>
              {versions.map((version) => (
                <option key={version.version} value={version.version}>
                  {t("plan.version", { n: version.version })}
                </option>
              ))}
            </select>
          </label>
          {diff.data && <SizeBadge size={diffSize(diff.data)} />}
          {versions.at(-1) && (
            <span className="secondary">
              {t("compare.written")} <Time at={versions.at(-1)?.at ?? plan.updatedAt} />
            </span>
          )}
        </div>
      ) : (
        history.isSuccess && <p className="secondary">{plan.supersedes === null ? t("compare.onlyOne") : t("compare.withReplaced")}</p>
      )}
      {diff.isPending && <Loading />}
      {diff.isError && (versions.length <= 1 ? null : <Failure error={diff.error} retry={() => void diff.refetch()} />)}
      {compared && (
        <div className="segments" role="group" aria-label={t("diff.look")}>
          {(["rendered", "source"] as const).map((one) => (
            <button key={one} type="button" aria-pressed={look === one} onClick={() => setLook(one)}>
              {t(`diff.look.${one}`)}
            </button>
          ))}
        </div>
      )}
      {compared && look === "rendered" ? <RenderedDiff key={`${compared.from}-${compared.to}`} plan={plan} from={compared.from} to={compared.to} /> : diff.data && <DiffView diff={diff.data} />}
    </section>
  );
}
