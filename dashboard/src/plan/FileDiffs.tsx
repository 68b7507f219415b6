import { use, useMemo, useState, type ReactNode } from "react";

import type { FileDiff } from "../api/types";
import { WholeContext } from "../markdown/CodeBlock";
import { t } from "../texts/t";
import { CopyButton } from "../ui/CopyButton";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { SizeBadge } from "./diffSize";
import { parseUnifiedDiff, type DiffRow } from "./unifiedDiff";

/** Longer differences are folded to their first lines. */
const FOLD_FROM = 80;
const FOLD_TO = 60;

/** What changed in files, one difference for each. */
export function FileDiffs({ files }: { files: readonly FileDiff[] }): ReactNode {
  return (
    <div className="file-diffs">
      {files.map((file) => (
        <FileDiffView key={`${file.workspace ?? ""}\n${file.path}`} file={file} />
      ))}
    </div>
  );
}

function FileDiffView({ file }: { file: FileDiff }): ReactNode {
  const [isOpen, setOpen] = useState(true);
  const rows = useMemo(() => parseUnifiedDiff(file.diff), [file.diff]);
  return (
    <figure className="code file-diff">
      <figcaption>
        <button type="button" className="file-diff-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="chevron" size={12} />
          <span>
            {file.workspace !== null && <span className="secondary">{file.workspace}/</span>}
            <Visible text={file.path} />
          </span>
          <SizeBadge size={{ added: file.addedLines, removed: file.removedLines }} />
        </button>
        <CopyButton text={file.diff} label={t("files.copyDiff")} />
      </figcaption>
      {isOpen && <DiffRows rows={rows} label={t("files.diffOf", { path: visible(file.path) })} />}
      {isOpen && file.truncated && <p className="diff-note">{t("files.truncated")}</p>}
    </figure>
  );
}

export function DiffRows({ rows, label }: { rows: readonly DiffRow[]; label: string }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const isLong = !use(WholeContext) && rows.length > FOLD_FROM;
  const shown = isLong && !isWhole ? rows.slice(0, FOLD_TO) : rows;
  return (
    <>
      <pre className="diff" data-numbered tabIndex={0} aria-label={label}>
        {shown.map((row, index) =>
          !("from" in row) ? (
            <span key={index} className="diff-line" data-mark="gap">
              {row.mark === "gap" && row.text === "" ? t("files.gap") : <Visible text={row.text} />}
            </span>
          ) : (
            <span key={index} className="diff-line" data-mark={row.mark}>
              <span className="diff-number" aria-hidden="true">
                {row.from ?? ""}
              </span>
              <span className="diff-number" aria-hidden="true">
                {row.to ?? ""}
              </span>
              <span className="diff-sign">{row.mark === "added" ? "+" : row.mark === "removed" ? "−" : " "}</span>
              <span className="diff-text">
                <Visible text={row.text} />
              </span>
            </span>
          ),
        )}
      </pre>
      {isLong && (
        <button type="button" className="code-fold" onClick={() => setWhole(!isWhole)}>
          {isWhole ? t("fold.less") : t("fold.more", { count: rows.length - FOLD_TO })}
        </button>
      )}
    </>
  );
}
