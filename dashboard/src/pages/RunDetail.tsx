import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";

import { resumeRunAct } from "../api/acts";
import { changeRun, type RunChoice } from "../api/auto";
import { newId } from "../api/newId";
import type { InboxItem } from "../api/types";
import { useSigning } from "../approval/useSigning";
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
  const decide = (choice: RunChoice) =>
    void signing.begin({
      title: t("sign.resumeRun", { n: run.number }),
      send: t("sign.resumeRun", { n: run.number }),
      shown: (
        <p dir="auto">
          <Visible text={item.title} />
        </p>
      ),
      act: choice === "resume" ? resumeRunAct(sessionIdOf(item), run.id) : undefined,
      perform: async (proof) => {
        try {
          await changeRun(sessionIdOf(item), run.id, choice, key.current, proof);
          say(t(choice === "resume" ? "run.resumed" : "run.stopped", { number: run.number }), { tone: "done" });
        } catch (problem) {
          key.current = newId();
          throw problem;
        } finally {
          void client.invalidateQueries({ queryKey: ["inbox"] });
        }
      },
    });
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
              <Button key={name} look={name === "resume" ? "primary" : undefined} busy={signing.busy} onClick={() => decide(name as RunChoice)}>
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
