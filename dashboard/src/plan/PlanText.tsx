import { useEffect, useMemo, type ReactNode, type Ref } from "react";

import type { Plan, Step } from "../api/types";
import { WholeContext } from "../markdown/CodeBlock";
import { Markdown } from "../markdown/Markdown";
import { outline, parse, type OutlineItem } from "../markdown/parse";
import { t } from "../texts/t";
import { Visible } from "../ui/hidden";
import { callWords } from "./CallView";
import { Covers } from "./Covers";
import { MoreBelow } from "./MoreBelow";
import { Previews } from "./PreviewView";
import { markShown } from "./shownText";
import { StepList } from "./StepList";
import type { LeftOut } from "./selection";

const LISTS = ["assumptions", "risks", "verification", "files"] as const;

interface PlanTextProps {
  plan: Plan;
  changed?: ReadonlySet<number> | undefined;
  selection?: { out: readonly LeftOut[]; toggle: (position: number) => void } | undefined;
  at?: number | undefined;
  extra?: (step: Step) => ReactNode;
  ref?: Ref<HTMLDivElement>;
}

/**
 * The plan as it is read: a document as its Markdown, other plans by their parts. While it waits for a decision all that an
 * approval covers stands in front of it, and nothing is folded.
 */
export function PlanText(props: PlanTextProps): ReactNode {
  const { plan, selection } = props;
  const waits = plan.status === "READY";
  useEffect(() => {
    if (waits) markShown(plan.digest);
  }, [waits, plan.digest]);
  return (
    <WholeContext value={waits}>
      {(plan.title.length > LONG_TITLE || (plan.style !== "document" && plan.title.length > LONG_ON_PHONE)) && (
        <p className="plan-title-whole" data-phone={plan.title.length <= LONG_TITLE || undefined}>
          <Visible text={plan.title} />
        </p>
      )}
      {waits && <Covers plan={plan} out={selection?.out} />}
      <div className="plan-read">
        {plan.style === "document" ? <DocumentText {...props} /> : <PartsText {...props} />}
        {waits && <MoreBelow key={plan.digest} />}
      </div>
    </WholeContext>
  );
}

/** The head of a page may cut a longer title, and that of a phone at two lines of wide letters. The title of a document stands in its text, too. */
const LONG_TITLE = 60;
const LONG_ON_PHONE = 30;

/**
 * Which round of calls a plan is and what the rounds before did, as the plan's text says it. No words of an agent can stand there: they are on
 * the line of the title, quoted, or behind the heading of the steps (`crates/core/src/plan/text.rs`).
 */
export function roundText({ style, markdown }: Pick<Plan, "style" | "markdown">): string | undefined {
  if (style !== "collect") return undefined;
  return /\n(Round \d+ of plan \d+\.\n[^]*?)\n## Steps\n/.exec(markdown)?.[1];
}

function DocumentText({ plan, changed, ref }: PlanTextProps): ReactNode {
  return (
    <div className="plan-text" ref={ref} data-plan-text>
      {plan.markdown.trim() === "" ? <p className="secondary">{t("plan.noText")}</p> : <Markdown text={plan.markdown} steps={plan.steps} changed={changed} anchors />}
    </div>
  );
}

function PartsText({ plan, selection, at, extra, ref }: PlanTextProps): ReactNode {
  const details = planDetails(plan);
  const rounds = roundText(plan);
  return (
    <Previews plan={plan}>
      <div className="plan-text" ref={ref} data-plan-text>
        {details.goal !== undefined && (
          <section id="goal">
            <h2>{t("plan.goal")}</h2>
            <p>
              <Visible text={details.goal} />
            </p>
          </section>
        )}
        {details.summary !== undefined && details.summary !== plan.title && details.summary !== details.goal && (
          <p className="plan-summary">
            <Visible text={details.summary} />
          </p>
        )}
        {rounds !== undefined && (
          <section id="rounds" className="rounds">
            <Markdown text={rounds} />
          </section>
        )}
        <section id="steps">
          <h2>{t("steps.title")}</h2>
          {plan.steps.length === 0 ? (
            <p className="secondary">{t("plan.noSteps")}</p>
          ) : (
            <StepList steps={plan.steps} selection={selection} at={at} unfolded={plan.status === "READY"} {...(extra ? { extra } : {})} />
          )}
        </section>
        {LISTS.map((name) => {
          const items = details[name];
          return items.length === 0 ? null : (
            <section key={name} id={name}>
              <h2>{t(`plan.list.${name}`)}</h2>
              <ul>
                {items.map((item, index) => (
                  <li key={index}>
                    <Visible text={item} />
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Previews>
  );
}

interface Details {
  goal: string | undefined;
  summary: string | undefined;
  assumptions: string[];
  risks: string[];
  verification: string[];
  files: string[];
}

export function planDetails(plan: Pick<Plan, "details">): Details {
  const given = (plan.details ?? {}) as Record<string, unknown>;
  const words = (value: unknown) => (typeof value === "string" && value.trim() !== "" ? value : undefined);
  const items = (value: unknown) => (Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []);
  return {
    goal: words(given.goal),
    summary: words(given.summary),
    assumptions: items(given.assumptions),
    risks: items(given.risks),
    verification: items(given.verification),
    files: items(given.files),
  };
}

/** The parts of the plan, each with its place in the page. */
export function usePlanOutline(plan: Plan, counts: ReadonlyMap<string, number>): { depth: number; text: string; anchor: string }[] {
  return useMemo(() => {
    if (plan.style === "document") {
      return outline(parse(plan.markdown)).map((item: OutlineItem) => ({ depth: item.depth, text: item.text, anchor: `line-${item.line}` }));
    }
    const details = planDetails(plan);
    const parts: { depth: number; text: string; anchor: string }[] = [];
    if (details.goal !== undefined) parts.push({ depth: 1, text: t("plan.goal"), anchor: "goal" });
    parts.push({ depth: 1, text: t("steps.title"), anchor: "steps" });
    // Of many steps those are listed that have comments.
    for (const step of plan.steps) {
      if (plan.steps.length <= MAX_LISTED || counts.has(`step-row-${step.position}`)) {
        const call = step.tool === undefined ? undefined : callWords(step.tool, step.arguments);
        const words = call ? [call.words, call.detail ?? ""].join(" ") : step.description;
        parts.push({ depth: 2, text: `${step.position}. ${words}`, anchor: `step-row-${step.position}` });
      }
    }
    for (const name of LISTS) if (details[name].length > 0) parts.push({ depth: 1, text: t(`plan.list.${name}`), anchor: name });
    return parts;
  }, [plan, counts]);
}

/** How many steps the outline lists. */
const MAX_LISTED = 30;
