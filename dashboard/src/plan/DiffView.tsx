import type { ReactNode } from "react";

import type { Change, DiffLine, Piece, PlanDiff } from "../api/types";
import { t } from "../texts/t";
import { Visible } from "../ui/hidden";
import { sign } from "./diffSize";

/** The difference between two versions: what changed in words, then the text line by line. */
export function DiffView({ diff }: { diff: PlanDiff }): ReactNode {
  if (diff.changes.length === 0 && diff.lines.length === 0) return <p className="secondary">{t("diff.none")}</p>;
  return (
    <div className="diff-view">
      {diff.changes.length > 0 && <Changes changes={diff.changes} />}
      {diff.lines.length > 0 && <DiffLines lines={diff.lines} />}
    </div>
  );
}

export function Changes({ changes }: { changes: readonly Change[] }): ReactNode {
  return (
    <ul className="changes">
      {changes.map((change, index) => (
        <li key={index} data-sign={sign(change)}>
          <ChangeWords change={change} />
        </li>
      ))}
    </ul>
  );
}

function ChangeWords({ change }: { change: Change }): ReactNode {
  switch (change.kind) {
    case "styleChanged":
    case "titleChanged":
    case "goalChanged":
    case "summaryChanged":
      return (
        <>
          {t(`change.${change.kind}`)} <FromTo from={change.from} to={change.to} />
        </>
      );
    case "headingAdded":
    case "headingRemoved":
      return (
        <>
          {t(`change.${change.kind}`)} <q><Visible text={change.text} /></q>
        </>
      );
    case "itemAdded":
    case "itemRemoved":
      return (
        <>
          {t(`change.${change.kind}`, { list: t(`plan.list.${change.list}`) })} <q><Visible text={change.text} /></q>
        </>
      );
    case "itemsReordered":
      return t("change.itemsReordered", { list: t(`plan.list.${change.list}`) });
    case "stepAdded":
    case "stepRemoved":
    case "stepTicked":
    case "stepUnticked":
      return (
        <>
          {t(`change.${change.kind}`, { n: change.position })} <q><Visible text={change.description} /></q>
        </>
      );
    case "stepReworded":
      return (
        <>
          {t("change.stepReworded", { n: change.position })} <FromTo from={change.from} to={change.to} />
        </>
      );
    case "stepChanged":
      return (
        <>
          {t("change.stepChanged", { n: change.position, field: t(`step.field.${change.field}`) })} <FromTo from={change.from} to={change.to} />
        </>
      );
    case "stepMoved":
      return (
        <>
          {t("change.stepMoved", { from: change.from, to: change.to })} <q><Visible text={change.description} /></q>
        </>
      );
  }
}

function FromTo({ from, to }: { from?: string | null | undefined; to?: string | null | undefined }): ReactNode {
  return (
    <span className="from-to">
      {from ? (
        <del>
          <Visible text={from} />
        </del>
      ) : (
        <span className="secondary">{t("change.nothing")}</span>
      )}
      <span aria-hidden="true"> → </span>
      {to ? (
        <ins>
          <Visible text={to} />
        </ins>
      ) : (
        <span className="secondary">{t("change.nothing")}</span>
      )}
    </span>
  );
}

export function DiffLines({ lines }: { lines: readonly DiffLine[] }): ReactNode {
  return (
    <pre className="diff" data-numbered tabIndex={0} aria-label={t("diff.label")}>
      {lines.map((line, index) =>
        line.mark === "gap" ? (
          <span key={index} className="diff-line" data-mark="gap">
            {t("diff.gap", { count: line.lines })}
          </span>
        ) : (
          <span key={index} className="diff-line" data-mark={line.mark}>
            <span className="diff-number" aria-hidden="true">
              {line.mark === "added" ? "" : line.from}
            </span>
            <span className="diff-number" aria-hidden="true">
              {line.mark === "removed" ? "" : line.to}
            </span>
            <span className="diff-sign">{line.mark === "added" ? "+" : line.mark === "removed" ? "−" : " "}</span>
            <span className="diff-text">{line.mark === "same" ? <Visible text={line.text} /> : <Pieces pieces={line.pieces} mark={line.mark} />}</span>
          </span>
        ),
      )}
    </pre>
  );
}

function Pieces({ pieces, mark }: { pieces: readonly Piece[]; mark: "added" | "removed" }): ReactNode {
  const Tag = mark === "added" ? "ins" : "del";
  return pieces.map((piece, index) =>
    piece.emphasized ? (
      <Tag key={index}>
        <Visible text={piece.text} />
      </Tag>
    ) : (
      <Visible key={index} text={piece.text} />
    ),
  );
}
