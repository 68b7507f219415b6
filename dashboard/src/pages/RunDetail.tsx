import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";

import { resumeRunAct } from "../api/acts";
import { changeRun, goalsQuery, loadWork, tasksQuery, type RunChoice } from "../api/auto";
import { newId } from "../api/newId";
import type { InboxItem, Run } from "../api/types";
import { useSigning, type Signable } from "../approval/useSigning";
import type { AutoWork } from "../rooms/runTarget";
import { WorkShown } from "../rooms/WorkShown";
import { sessionIdOf } from "../session/id";
import { SessionName } from "../session/SessionName";
import { t } from "../texts/t";
import { Banner, Button, errorWords, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { inboxTitle } from "./inboxItems";

/** A run that waits for a person: at a limit, without progress, or because its process ended. */
export function RunDetail({ item, run }: { item: InboxItem; run: NonNullable<InboxItem["run"]> }): ReactNode {
  const client = useQueryClient();
  const key = useRef(newId());
  const signing = useSigning(item.require, "run");
  const session = sessionIdOf(item);
  // What is signed is over the words of the goal and the task.
  const goals = useQuery({ ...goalsQuery(session), enabled: signing.asks });
  const tasks = useQuery({ ...tasksQuery(session), enabled: signing.asks });
  const signable = (choice: RunChoice, now: Run, work: Pick<AutoWork, "goals" | "tasks">): Signable => ({
    title: t("sign.resumeRun", { n: now.number }),
    send: t("sign.resumeRun", { n: now.number }),
    shown: <WorkShown goal={work.goals.find((one) => one.id === now.goalId)} task={work.tasks.find((one) => one.id === now.taskId)} />,
    act: choice === "resume" ? resumeRunAct(session, now) : undefined,
    perform: async (proof) => {
      try {
        await changeRun(session, now, choice, key.current, proof);
        say(t(choice === "resume" ? "run.resumed" : "run.stopped", { number: now.number }), { tone: "done" });
      } catch (problem) {
        key.current = newId();
        throw problem;
      } finally {
        void client.invalidateQueries({ queryKey: ["inbox"] });
      }
    },
    reload: async () => {
      const loaded = await loadWork(client, session);
      const found = loaded.runs.find((one) => one.id === now.id);
      return found && signable(choice, found, loaded);
    },
  });
  const decide = (choice: RunChoice) => void signing.begin(signable(choice, run, { goals: goals.data ?? [], tasks: tasks.data ?? [] }));
  const unread = signing.asks && (goals.data === undefined || tasks.data === undefined);
  return (
    <>
      <header className="inbox-detail-head">
        <div className="page-about">
          <span>{inboxTitle(item)}</span>
          <Link to="/s/$session" params={{ session: sessionIdOf(item) }}>
            <SessionName session={sessionIdOf(item)} />
          </Link>
        </div>
        <h2 dir="auto">
          <Visible text={item.title} />
        </h2>
      </header>
      <div className="inbox-detail-body">
        {run.reason !== null && (
          <p>
            <Visible text={run.reason} />
          </p>
        )}
        <p>
          {t("run.spent", { turns: run.spent.turns, tokens: run.spent.tokens })} <Time at={run.startedAt} />
        </p>
      </div>
      <section className="decision" aria-label={t("ask.choose")}>
        {signing.problem !== undefined && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(signing.problem) })}</Banner>}
        {signing.note}
        <div className="decision-row">
          <div className="decision-buttons">
            {run.actions.map(({ name, label }) => (
              <Button key={name} look={name === "resume" ? "primary" : undefined} busy={signing.busy || (unread && name === "resume")} onClick={() => decide(name as RunChoice)}>
                {label}
              </Button>
            ))}
          </div>
        </div>
        {signing.dialog}
      </section>
    </>
  );
}
