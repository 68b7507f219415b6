import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { ApiProblem } from "../api/client";
import { writeWorkbook } from "../api/decisions";
import type { WorkbookDocument } from "../api/types";
import { DiffRows } from "../plan/FileDiffs";
import { differenceRows } from "../plan/PreviewView";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Banner, Button } from "../ui/basics";
import { visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { Problem } from "./parts";

/** Edits a document. Another version that arrives meanwhile is never overwritten unseen. */
export function WorkbookEditor({ session, document, onClose }: { session: SessionId; document: WorkbookDocument; onClose: () => void }): ReactNode {
  const client = useQueryClient();
  // The version that the text was made from, and not the one that the page has learned of since.
  const [base, setBase] = useState(document);
  const [text, setText] = useState(document.markdown);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [theirs, setTheirs] = useState<WorkbookDocument>();
  const save = async (version: number) => {
    setBusy(true);
    setError(undefined);
    try {
      const written = await writeWorkbook(session, document.which, version, text);
      await client.invalidateQueries({ queryKey: ["workbook", session] });
      say(t("workbook.saved", { version: written.version }), { tone: "done" });
      onClose();
    } catch (problem) {
      const current = conflict(problem);
      if (current) setTheirs(current);
      else setError(problem);
      setBusy(false);
    }
  };
  const isSame = text === base.markdown;
  return (
    <form
      className="workbook-editor"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSame && !isBusy) void save(base.version);
      }}
    >
      {!theirs && document.version > base.version && (
        <Banner tone="waiting" icon="swap">
          {t("workbook.newer", { version: document.version })}
        </Banner>
      )}
      {theirs && (
        <section className="workbook-conflict" aria-live="assertive">
          <Banner
            tone="waiting"
            icon="warning"
            actions={
              <>
                <Button busy={isBusy} onClick={() => void save(theirs.version)}>
                  {t("workbook.overwrite")}
                </Button>
                <Button
                  onClick={() => {
                    setBase(theirs);
                    setText(theirs.markdown);
                    setTheirs(undefined);
                    void client.invalidateQueries({ queryKey: ["workbook", session] });
                  }}
                >
                  {t("workbook.takeTheirs")}
                </Button>
              </>
            }
          >
            {t("workbook.conflict", { by: visible(theirs.by), version: theirs.version })}
          </Banner>
          <p className="secondary">{t("workbook.conflictWords")}</p>
          <DiffRows rows={differenceRows(theirs.markdown, text)} label={t("workbook.conflictWords")} />
        </section>
      )}
      <label className="workbook-text">
        <span className="visually-hidden">{t("workbook.text")}</span>
        <textarea dir="auto"
          value={text}
          rows={Math.min(40, Math.max(12, text.split("\n").length + 2))}
          spellCheck
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !isSame) void save(base.version);
          }}
        />
      </label>
      <Problem error={error} />
      <div className="ask-buttons">
        <Button onClick={onClose}>{t("ask.back")}</Button>
        <Button type="submit" look="primary" busy={isBusy} off={isSame ? t("workbook.offSame") : undefined}>
          {t("workbook.save")}
        </Button>
      </div>
    </form>
  );
}

/** The document as it is now, from a refusal because the version was old. */
function conflict(problem: unknown): WorkbookDocument | undefined {
  if (!(problem instanceof ApiProblem) || problem.status !== 409) return undefined;
  const found = (problem.fields.document ?? {}) as Partial<WorkbookDocument>;
  return typeof found.markdown === "string" && typeof found.version === "number" ? (found as WorkbookDocument) : undefined;
}
