import { useQuery } from "@tanstack/react-query";
import { createContext, useMemo, type ReactNode } from "react";

import { previewQuery } from "../api/queries";
import type { CallPreview, Plan } from "../api/types";
import { t } from "../texts/t";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { SizeBadge } from "./diffSize";
import { DiffRows } from "./FileDiffs";
import { diffLines } from "./lineDiff";
import type { DiffRow } from "./unifiedDiff";

/** What recorded calls would change in files, by step. */
export const PreviewContext = createContext<ReadonlyMap<string, CallPreview>>(new Map());

/** Recorded calls are compared with the files while they wait; afterwards the kept changes tell it. */
export function Previews({ plan, children }: { plan: Plan; children: ReactNode }): ReactNode {
  const waits = plan.style === "collect" && ["COLLECTING", "READY", "APPROVED"].includes(plan.status);
  const { data } = useQuery({ ...previewQuery(plan.id), enabled: waits && plan.steps.length > 0, retry: false });
  const previews = useMemo(() => new Map((waits ? (data ?? []) : []).map((one) => [one.stepId, one])), [waits, data]);
  return <PreviewContext value={previews}>{children}</PreviewContext>;
}

/** Unchanged lines that are shown around a change. */
const AROUND = 3;

export function PreviewView({ preview, call }: { preview: CallPreview; call: ReactNode }): ReactNode {
  const { path, to, before, after, existsBefore, existsAfter, problem } = preview;
  const rows = useMemo(() => differenceRows(before ?? "", after ?? ""), [before, after]);
  const why = problem !== undefined && (
    <p className="preview-problem" data-tone="waiting">
      <Icon name="warning" size={14} /> <Visible text={problem} />
    </p>
  );
  // Without the text of an existing file, the call itself says most.
  if ((existsBefore && before === null) || (existsAfter && after === null) || rows.length === 0) {
    return (
      <>
        {why}
        {call}
        {why === false && to === undefined && existsBefore && existsAfter && <p className="secondary">{t("preview.same")}</p>}
      </>
    );
  }
  const size = { added: rows.filter((row) => row.mark === "added").length, removed: rows.filter((row) => row.mark === "removed").length };
  return (
    <>
      {why}
      <figure className="code file-diff">
        <figcaption>
          <span>
            <Icon name="edit" size={14} /> <Visible text={to === undefined ? path : `${path} → ${to}`} /> <SizeBadge size={size} />
          </span>
          <span className="secondary">{t(!existsBefore ? "preview.new" : !existsAfter ? "preview.gone" : "preview.now")}</span>
        </figcaption>
        <DiffRows rows={rows} label={t("files.diffOf", { path: visible(path) })} />
      </figure>
    </>
  );
}

/** The changed lines with a few around them, numbered in both texts. */
export function differenceRows(before: string, after: string): DiffRow[] {
  const lines = diffLines(before, after);
  const isNear = lines.map(() => false);
  lines.forEach((line, index) => {
    if (line.mark === "same") return;
    for (let near = Math.max(0, index - AROUND); near <= Math.min(lines.length - 1, index + AROUND); near += 1) isNear[near] = true;
  });
  const rows: DiffRow[] = [];
  let from = 1;
  let to = 1;
  let isInGap = false;
  lines.forEach((line, index) => {
    if (isNear[index]) {
      rows.push({ mark: line.mark, from: line.mark === "added" ? undefined : from, to: line.mark === "removed" ? undefined : to, text: line.text });
      isInGap = false;
    } else if (!isInGap) {
      rows.push({ mark: "gap", text: "" });
      isInGap = true;
    }
    if (line.mark !== "added") from += 1;
    if (line.mark !== "removed") to += 1;
  });
  return rows.some((row) => "from" in row) ? rows : [];
}
