import { useMemo, type ReactNode } from "react";

import type { Plan } from "../api/types";
import { CodeBlock } from "../markdown/CodeBlock";
import { askedHost } from "../markdown/parse";
import { list, t } from "../texts/t";
import { Visible, visible } from "../ui/hidden";
import { Icon, type IconName } from "../ui/Icon";
import { covered, type Covered } from "./covers";
import type { LeftOut } from "./selection";

const NONE: readonly LeftOut[] = [];

/** What the plan does, without the steps that are left out. */
export function useCovered(plan: Plan, out: readonly LeftOut[] = NONE): Covered {
  return useMemo(() => covered(plan, new Set(out.map((one) => one.position))), [plan, out]);
}

/** All that an approval covers, in front of the plan: nothing of it is folded. */
export function Covers({ plan, out }: { plan: Plan; out?: readonly LeftOut[] | undefined }): ReactNode {
  const { commands, deletions, files, tools, hosts, reads, needs } = useCovered(plan, out);
  const isNothing = commands.length + deletions.length + files.length + tools.length + hosts.length === 0 && needs === undefined;
  return (
    <section className="covers-list" aria-label={t("covers.title")}>
      <h2>{t("covers.title")}</h2>
      {isNothing && <p className="secondary">{t(reads > 0 ? "covers.reads" : "covers.nothing", { count: reads })}</p>}
      {needs !== undefined && <CodeBlock code={needs} label={t("covers.needs")} />}
      <dl>
        <Group icon="terminal" title={t("covers.commands", { count: commands.length })} of={commands}>
          {({ line, step }) => (
            <>
              <code className="covers-line">
                <Visible text={line} />
              </code>
              <At steps={step === undefined ? [] : [step]} />
            </>
          )}
        </Group>
        <Group icon="trash" title={t("covers.deletions", { count: deletions.length })} of={deletions}>
          {({ path, step }) => <Path path={path} step={step} />}
        </Group>
        <Group icon="edit" title={t("covers.files", { count: files.length })} of={files}>
          {({ path, step }) => <Path path={path} step={step} />}
        </Group>
        <Group icon="tool" title={t("covers.tools", { count: tools.length })} of={tools}>
          {({ name, steps }) => (
            <>
              <code>{visible(name)}</code> <At steps={steps} />
            </>
          )}
        </Group>
        <Group icon="swap" title={t("covers.hosts", { count: hosts.length })} of={hosts}>
          {(host) => <code>{[visible(host), askedHost(`https://${host}`)].filter((name) => name !== undefined).join(" → ")}</code>}
        </Group>
      </dl>
    </section>
  );
}

function Group<T>({ icon, title, of, children }: { icon: IconName; title: string; of: readonly T[]; children: (one: T) => ReactNode }): ReactNode {
  if (of.length === 0) return null;
  return (
    <div>
      <dt>
        <Icon name={icon} size={14} /> {title}
      </dt>
      {of.map((one, index) => (
        <dd key={index}>{children(one)}</dd>
      ))}
    </div>
  );
}

function Path({ path, step }: { path: string; step: number }): ReactNode {
  return (
    <>
      <code>
        <Visible text={path} />
      </code>{" "}
      <At steps={[step]} />
    </>
  );
}

function At({ steps }: { steps: readonly number[] }): ReactNode {
  if (steps.length === 0) return null;
  return <span className="secondary">{t("covers.at", { count: steps.length, steps: list(steps) })}</span>;
}

/** The same in a few words, for a button. */
export function coversWords({ commands, deletions, files, tools, hosts, areHostsFromText }: Covered): string[] {
  return [
    commands.length > 0 ? t("covers.commands", { count: commands.length }) : "",
    deletions.length > 0 ? t("covers.deletions", { count: deletions.length }) : "",
    files.length > 0 ? t("covers.files", { count: files.length }) : "",
    tools.length > 0 ? t("covers.tools", { count: tools.length }) : "",
    // A text names hosts also to read there: they stand in front of it, and are not what is done.
    hosts.length > 0 && !areHostsFromText ? t("covers.hosts", { count: hosts.length }) : "",
  ].filter((words) => words !== "");
}
