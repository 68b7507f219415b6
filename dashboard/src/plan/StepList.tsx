import { useVirtualizer } from "@tanstack/react-virtual";
import { use, useCallback, useRef, useState, type ReactNode } from "react";

import type { Step } from "../api/types";
import { CodeBlock } from "../markdown/CodeBlock";
import { duration, list, t } from "../texts/t";
import { useNow } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { StepIcon } from "../ui/status";
import { callWords, CallView, purposeOf, ResultView } from "./CallView";
import { PreviewContext } from "./PreviewView";
import type { LeftOut } from "./selection";

export interface StepListProps {
  steps: readonly Step[];
  /** With boxes: what is left out, and how to change it. */
  selection?: { out: readonly LeftOut[]; toggle: (position: number) => void } | undefined;
  /** One line a step, for the panel. */
  compact?: boolean;
  /** The details of every step are unfolded: what is to be approved is in view. */
  unfolded?: boolean;
  /** The step the keyboard is at. */
  at?: number | undefined;
  extra?: (step: Step) => ReactNode;
}

/** Beyond this many, steps that are not in view are not drawn. */
const WINDOW_FROM = 60;

export function StepList(props: StepListProps): ReactNode {
  return props.steps.length > WINDOW_FROM ? (
    <WindowedSteps {...props} />
  ) : (
    <ol className="steps" data-compact={props.compact || undefined}>
      {props.steps.map((step) => (
        <StepRow key={step.id} step={step} {...props} />
      ))}
    </ol>
  );
}

function WindowedSteps(props: StepListProps): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const { steps } = props;
  // The virtualizer measures every row anew when this function is another one.
  const getItemKey = useCallback((index: number) => steps[index]?.id ?? index, [steps]);
  const rows = useVirtualizer({
    count: props.steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => (props.compact ? 40 : 76),
    overscan: 10,
    getItemKey,
  });
  return (
    <div className="steps-window" ref={box} tabIndex={0} role="group" aria-label={t("steps.title")}>
      <ol className="steps" data-compact={props.compact || undefined} data-windowed style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const step = props.steps[row.index];
          return step ? (
            <StepRow key={row.key} step={step} {...props} measure={rows.measureElement} index={row.index} start={row.start} />
          ) : null;
        })}
      </ol>
    </div>
  );
}

function StepRow({
  step,
  steps,
  selection,
  compact = false,
  at,
  extra,
  unfolded = false,
  measure,
  index,
  start,
}: StepListProps & { step: Step; measure?: (element: Element | null) => void; index?: number; start?: number }): ReactNode {
  // A plan that begins to wait unfolds its steps, also those that were drawn before.
  const [chosen, setChosen] = useState<boolean>();
  const open = chosen ?? unfolded;
  const previews = use(PreviewContext);
  const out = selection?.out.find((one) => one.position === step.position);
  const call = step.tool === undefined ? undefined : callWords(step.tool, step.arguments, step.note);
  const needs = (step.needs ?? []).map((need) => steps.find((other) => other.id === need)?.position).filter((n) => n !== undefined);
  const hasDetails = step.tool !== undefined || step.note !== undefined || step.evidence !== undefined || step.verification !== undefined || (step.commands ?? []).length > 0;
  const purpose = compact ? undefined : purposeOf(step);
  const labelId = `step-${step.id}`;
  const label = call ? (
    <>
      {call.words} {call.detail !== undefined && <code className="call-detail"><Visible text={call.detail} /></code>}
    </>
  ) : (
    <Visible text={step.description} />
  );
  return (
    <li
      className="step"
      data-status={step.status}
      data-out={out !== undefined || undefined}
      data-at={at === step.position || undefined}
      id={compact ? undefined : `step-row-${step.position}`}
      data-anchor-step={step.id}
      value={step.position}
      ref={measure}
      data-index={index}
      style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
    >
      {selection ? (
        <input
          type="checkbox"
          checked={out === undefined}
          disabled={out !== undefined && out.because !== undefined}
          aria-labelledby={labelId}
          onChange={() => selection.toggle(step.position)}
        />
      ) : (
        <StepIcon status={step.status} />
      )}
      <div className="step-body">
        <div className="step-line">
          <span className="step-number">{step.position}</span>
          {hasDetails && !compact ? (
            <button type="button" id={labelId} className="step-label" dir="auto" aria-expanded={open} onClick={() => setChosen(!open)}>
              {label}
              <Icon name="chevron" size={12} />
            </button>
          ) : (
            <span id={labelId} className="step-label" dir="auto">
              {label}
            </span>
          )}
        </div>
        {purpose !== undefined && (
          <p className="step-purpose" dir="auto">
            <span className="secondary">{t("step.purpose")}</span> <Visible text={purpose} />
          </p>
        )}
        <StepAbout step={step} needs={needs} out={out} compact={compact} />
        {open && !compact && (
          <div className="step-details">
            {step.tool !== undefined && <CallView tool={step.tool} args={step.arguments} preview={step.status === "PENDING" ? previews.get(step.id) : undefined} />}
            {(step.commands ?? []).length > 0 && (
              <Detail title={t("step.commands")}>
                <CodeBlock code={(step.commands ?? []).join("\n")} language="bash" />
              </Detail>
            )}
            {step.verification !== undefined && (
              <Detail title={t("step.verification")}>
                <Visible text={step.verification} />
              </Detail>
            )}
            {step.note !== undefined && (
              <Detail title={step.tool === undefined ? t("step.note") : t("step.result")}>
                {step.tool === undefined ? <Visible text={step.note} /> : <ResultView result={step.note} />}
              </Detail>
            )}
            {step.evidence !== undefined && (
              <Detail title={t("step.evidence")}>
                <Visible text={step.evidence} />
              </Detail>
            )}
          </div>
        )}
        {extra?.(step)}
      </div>
    </li>
  );
}

function StepAbout({ step, needs, out, compact }: { step: Step; needs: readonly number[]; out: LeftOut | undefined; compact: boolean }): ReactNode {
  const parts: ReactNode[] = [];
  if (out?.because !== undefined) parts.push(<span key="out" data-tone="waiting">{t("step.outBecause", { n: out.because })}</span>);
  else if (out) parts.push(<span key="out">{t("step.out")}</span>);
  if (step.status !== "PENDING") parts.push(<span key="status" data-tone={TONES[step.status]}>{t(`step.state.${step.status}`)}</span>);
  if (step.madeBy !== undefined) parts.push(<span key="madeBy">{t(`step.madeBy.${step.madeBy}`)}</span>);
  if (step.agent !== undefined) parts.push(<span key="agent" className="agent">{visible(step.agent)}</span>);
  if (needs.length > 0) parts.push(<span key="needs">{t("step.needs", { steps: list(needs) })}</span>);
  if (step.startedAt !== undefined) parts.push(<Elapsed key="time" from={step.startedAt} to={step.finishedAt} />);
  if (!compact && step.note !== undefined && step.tool === undefined) parts.push(<span key="note" className="step-note"><Visible text={step.note} /></span>);
  if (parts.length === 0) return null;
  return <div className="step-about">{parts}</div>;
}

const TONES = { PENDING: undefined, IN_PROGRESS: "running", COMPLETED: "done", FAILED: "failed", SKIPPED: undefined, UNCERTAIN: "waiting" } as const;

/** How long something took, or has taken until now. */
export function Elapsed({ from, to }: { from: string; to: string | null | undefined }): ReactNode {
  const now = useNow(to ? 3_600_000 : 1_000);
  const end = to ? new Date(to).getTime() : now;
  return <span className="elapsed">{duration(Math.max(0, end - new Date(from).getTime()))}</span>;
}

function Detail({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="detail">
      <h3>{title}</h3>
      <div>{children}</div>
    </div>
  );
}
