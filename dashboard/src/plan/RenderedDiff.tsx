import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";

import { planVersionQuery } from "../api/queries";
import type { Plan } from "../api/types";
import { CodeBlock, WholeContext } from "../markdown/CodeBlock";
import { Markdown } from "../markdown/Markdown";
import { list, t } from "../texts/t";
import { Failure, Loading } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { CallView, callWords, purposeOf } from "./CallView";
import { changeKey, partChanges, planParts, type PlanPart } from "./planParts";
import { setViewed, viewedOf } from "./viewed";

/** What changed between two versions, as it is read: part by part, each with a mark that it was looked at. */
export function RenderedDiff({ plan, from, to }: { plan: Plan; from: number; to: number }): ReactNode {
  const before = useQuery(planVersionQuery(plan.id, from));
  const after = useQuery(planVersionQuery(plan.id, to));
  const changes = useMemo(() => {
    if (!before.data || !after.data) return undefined;
    return partChanges(planParts(before.data), planParts(after.data)).map((change) => (change.mark === "same" ? change : { ...change, key: changeKey(change) }));
  }, [before.data, after.data]);
  const [viewed, setShown] = useState(() => viewedOf(plan.id));
  const failed = before.isError ? before : after.isError ? after : undefined;
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!changes) return <Loading />;
  const keys = changes.flatMap((change) => (change.mark === "changed" ? [change.key] : []));
  if (keys.length === 0) return <p className="secondary">{t("diff.none")}</p>;
  return (
    <WholeContext value={true}>
      <p className="secondary" role="status">
        {t("viewed.count", { count: keys.length, viewed: keys.filter((key) => viewed.has(key)).length })}
      </p>
      <ol className="part-changes">
        {changes.map((change, index) => {
          if (change.mark === "same") {
            return (
              <li key={index} className="part-same">
                {t("diff.sameParts", { count: change.count })}
              </li>
            );
          }
          const { key } = change;
          const isViewed = viewed.has(key);
          const kind = change.before === undefined ? "added" : change.after === undefined ? "removed" : "changed";
          return (
            <li key={index} className="part-change" data-viewed={isViewed || undefined}>
              <header>
                <strong>{partName(change.after ?? change.before)}</strong>
                <span className="secondary">{t(`diff.part.${kind}`)}</span>
                <label>
                  <input type="checkbox" checked={isViewed} onChange={(event) => setShown(setViewed(plan.id, key, event.target.checked))} /> {t("viewed.label")}
                </label>
              </header>
              {!isViewed && change.before && <PartView part={change.before} mark="removed" />}
              {!isViewed && change.after && <PartView part={change.after} mark="added" />}
            </li>
          );
        })}
      </ol>
    </WholeContext>
  );
}

function partName(part: PlanPart | undefined): string {
  if (part?.step !== undefined) return t("step.number", { n: part.step });
  const field = part?.field;
  if (field === undefined) return t("diff.text");
  return field === "title" || field === "goal" || field === "summary" ? t(`diff.field.${field}`) : t(`plan.list.${field}`);
}

function PartView({ part, mark }: { part: PlanPart; mark: "removed" | "added" }): ReactNode {
  const { content, markdown, field, needs = [] } = part;
  const call = content?.tool === undefined ? undefined : callWords(content.tool, content.arguments);
  const purpose = content && purposeOf(content);
  const Tag = mark === "removed" ? "del" : "ins";
  return (
    <Tag className="part" data-mark={mark}>
      {markdown !== undefined &&
        (field === undefined ? (
          <Markdown text={markdown} />
        ) : (
          <p dir="auto">
            <Visible text={markdown} />
          </p>
        ))}
      {content && (
        <>
          <p>{call ? call.words : <Visible text={content.description} />}</p>
          {purpose !== undefined && (
            <p dir="auto">
              <span className="secondary">{t("step.purpose")}</span> <Visible text={purpose} />
            </p>
          )}
          {(content.agent !== undefined || content.verification !== undefined) && (
            <p className="secondary">
              {visible(content.agent ?? "")} <Visible text={content.verification ?? ""} />
            </p>
          )}
          {needs.length > 0 && <p className="secondary">{t("step.needs", { steps: list(needs) })}</p>}
          {content.madeBy !== undefined && <p className="secondary">{t(`step.madeBy.${content.madeBy}`)}</p>}
          {content.tool !== undefined && <CallView tool={content.tool} args={content.arguments} />}
          {(content.commands ?? []).length > 0 && <CodeBlock code={(content.commands ?? []).join("\n")} language="bash" />}
        </>
      )}
    </Tag>
  );
}
