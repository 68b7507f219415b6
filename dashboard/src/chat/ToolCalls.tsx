import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { entryQuery } from "../api/queries";
import { callWords, CallView, parseJson, ResultView } from "../plan/CallView";
import type { SessionId } from "../session/id";
import { duration, t } from "../texts/t";
import { Failure, Loading } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import type { ToolCall } from "./rows";

/** Calls folded into a line: how many, how long, and what failed. */
export function ToolCalls({ calls, session }: { calls: readonly ToolCall[]; session: SessionId }): ReactNode {
  const [open, setOpen] = useState(false);
  const took = calls.reduce((sum, call) => sum + (call.tookMs ?? 0), 0);
  const bad = calls.filter((call) => call.status !== undefined && BAD.has(call.status)).length;
  const only = calls.length === 1 ? calls[0] : undefined;
  if (only) return <div className="tools"><CallLine call={only} session={session} /></div>;
  return (
    <div className="tools">
      <button type="button" className="tools-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <span>{t("tools.count", { count: calls.length })}</span>
        <span className="secondary">{summary(calls)}</span>
        {bad > 0 && <span data-tone="failed">{t("tools.bad", { count: bad })}</span>}
        <span className="elapsed">{duration(took)}</span>
      </button>
      {open && (
        <ul className="tools-list">
          {calls.map((call) => (
            <li key={`${call.seq}-${call.place}`}>
              <CallLine call={call} session={session} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const BAD = new Set(["refused", "failed", "timed_out", "uncertain"]);

function summary(calls: readonly ToolCall[]): string {
  const words = new Set(calls.map((call) => callWords(call.name, parseJson(call.args ?? "")).words));
  return [...words].slice(0, 3).join(", ") + (words.size > 3 ? " …" : "");
}

function CallLine({ call, session }: { call: ToolCall; session: SessionId }): ReactNode {
  const [open, setOpen] = useState(false);
  const { words, detail, icon } = callWords(call.name, parseJson(call.args ?? ""), call.result);
  return (
    <div className="call" data-status={call.status}>
      <button type="button" className="call-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <Icon name={icon} size={14} />
        <span>{words}</span>
        {detail !== undefined && (
          <code className="call-detail">
            <Visible text={detail} />
          </code>
        )}
        {call.status !== undefined && call.status !== "done" && <span className="call-status" data-tone={BAD.has(call.status) ? "failed" : undefined}>{t(`tool.status.${call.status}`)}</span>}
        {call.tookMs !== undefined && <span className="elapsed">{duration(call.tookMs)}</span>}
      </button>
      {open && <CallDetails call={call} session={session} />}
    </div>
  );
}

/** Arguments of older calls are read from the journal when the person unfolds the call. */
function CallDetails({ call, session }: { call: ToolCall; session: SessionId }): ReactNode {
  const entry = useQuery({ ...entryQuery(session, call.seq), enabled: call.args === undefined });
  const calls = (entry.data?.event.reply as { calls?: { arguments: string }[] } | undefined)?.calls;
  const args = call.args ?? calls?.[call.place]?.arguments;
  return (
    <div className="call-details">
      {entry.isError && <Failure error={entry.error} retry={() => void entry.refetch()} />}
      {args === undefined ? entry.isFetching && <Loading /> : <CallView tool={call.name} args={parseJson(args)} />}
      {call.result !== undefined && (
        <div className="detail">
          <h4>{t("step.result")}</h4>
          <ResultView result={call.result} />
        </div>
      )}
    </div>
  );
}
