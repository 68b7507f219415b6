import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, type ReactNode } from "react";

import { decideRun, type RunChoice } from "../api/decisions";
import { newId } from "../api/newId";
import type { InboxItem } from "../api/types";
import { useVerification } from "../approval/ApproverFields";
import { forgetWrong } from "../approval/remembered";
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
  const verification = useVerification(item.require);
  const decide = useMutation({
    mutationFn: (choice: RunChoice) => decideRun(item, choice, key.current, choice === "resume" ? verification.entry : undefined),
    onSuccess: (_, choice) => {
      if (choice === "resume") verification.accepted();
      say(t(choice === "resume" ? "run.resumed" : "run.stopped", { number: run.number }), { tone: "done" });
    },
    onError: (problem) => {
      forgetWrong(problem);
      key.current = newId();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["inbox"] }),
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
        {decide.isError && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(decide.error) })}</Banner>}
        {verification.fields}
        <div className="decision-row">
          <div className="decision-buttons">
            {run.actions.map(({ name, label }) => (
              <Button key={name} look={name === "resume" ? "primary" : undefined} off={name === "resume" ? verification.off : undefined} busy={decide.isPending} onClick={() => decide.mutate(name as RunChoice)}>
                {label}
              </Button>
            ))}
          </div>
        </div>
      </section>
    </>
  );
}
