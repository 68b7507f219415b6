import { useQuery } from "@tanstack/react-query";
import { useMemo, type ReactNode } from "react";

import { ApiProblem } from "../api/client";
import { stringifyExact } from "../api/exactJson";
import { fileTextQuery } from "../api/files";
import { WholeContext } from "../markdown/CodeBlock";
import { CallView, WithRest } from "../plan/CallView";
import { DiffRows } from "../plan/FileDiffs";
import { SizeBadge } from "../plan/diffSize";
import { differenceRows } from "../plan/PreviewView";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { textAfter } from "./textAfter";

type Arguments = Record<string, unknown>;

/** A call that waits for a yes, as what it does: a write against the file as it is, a command as a command, any other as it is sent. */
export function CallAsked({ session, tool, args }: { session: SessionId; tool: string; args: Arguments }): ReactNode {
  return (
    <WholeContext value={true}>
      <div className="ask-does" role="group" aria-label={t("ask.call")}>
        <p className="ask-tool">
          <code>
            <Visible text={tool} />
          </code>
        </p>
        {tool === "run_command" && typeof args.command === "string" ? (
          <CallView tool={tool} args={args} />
        ) : (tool === "write_file" || tool === "edit_file") && typeof args.path === "string" ? (
          <WithRest call={<Write session={session} tool={tool} path={args.path} args={args} />} given={args} names={["path", "content", "edits"]} />
        ) : (
          <pre className="ask-call whole" tabIndex={0}>
            <Visible text={stringifyExact(args, 2)} />
          </pre>
        )}
      </div>
    </WholeContext>
  );
}

function Write({ session, tool, path, args }: { session: SessionId; tool: string; path: string; args: Arguments }): ReactNode {
  const file = useQuery({ ...fileTextQuery(session, path), staleTime: 0, retry: false });
  const isNew = file.error instanceof ApiProblem && file.error.status === 404;
  const before = isNew ? "" : isText(file.data) ? file.data : undefined;
  const after = before === undefined ? undefined : textAfter(before, tool, args);
  const rows = useMemo(() => (before === undefined || after === undefined ? [] : differenceRows(before, after)), [before, after]);
  // Without the file's text, or where the call would not fit it, the call itself says most.
  if (rows.length === 0) {
    return (
      <>
        {after === undefined && before !== undefined && <p className="preview-problem" data-tone="waiting"><Icon name="warning" size={14} /> {t("ask.doesNotFit")}</p>}
        {after !== undefined && <p className="secondary">{t("preview.same")}</p>}
        <CallView tool={tool} args={args} />
      </>
    );
  }
  const size = { added: rows.filter((row) => row.mark === "added").length, removed: rows.filter((row) => row.mark === "removed").length };
  return (
    <figure className="code file-diff">
      <figcaption>
        <span>
          <Icon name="edit" size={14} /> <Visible text={path} /> <SizeBadge size={size} />
        </span>
        <span className="secondary">{t(isNew ? "preview.new" : "preview.now")}</span>
      </figcaption>
      <DiffRows rows={rows} label={t("files.diffOf", { path: visible(path) })} />
    </figure>
  );
}

/** What could not be read as text is not compared as text. */
function isText(data: string | undefined): data is string {
  return data !== undefined && !/[\u0000\ufffd]/.test(data);
}
