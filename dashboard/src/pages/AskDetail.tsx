import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";

import { answerPermission, answerQuestions, type PermissionGrant } from "../api/decisions";
import type { InboxItem } from "../api/types";
import { useVerification } from "../approval/ApproverFields";
import { sessionIdOf } from "../session/id";
import { t } from "../texts/t";
import { Banner, Button, errorWords } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { inboxTitle } from "./inboxItems";

/** What an agent asks, with the answers a person can give. */
export function AskDetail({ item }: { item: InboxItem }): ReactNode {
  return (
    <>
      <header className="inbox-detail-head">
        <div className="page-about">
          <span>{inboxTitle(item)}</span>
          <Link to="/s/$session" params={{ session: sessionIdOf(item) }}>
            {t("ask.session")}
          </Link>
        </div>
        <h2>
          <Visible text={item.title} />
        </h2>
      </header>
      {item.call ? <Permission item={item} call={item.call} /> : <Questions item={item} questions={item.questions ?? []} />}
    </>
  );
}

/** One key for each answer, so that an answer that is sent again counts once. */
function useAnswer<T>(send: (answer: T, key: string) => Promise<{ words: string }>) {
  const client = useQueryClient();
  const key = useRef(crypto.randomUUID());
  return useMutation({
    mutationFn: (answer: T) => send(answer, key.current),
    onSuccess: (answered) => say(answered.words, { tone: "done" }),
    onError: () => {
      key.current = crypto.randomUUID();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["inbox"] }),
  });
}

function Permission({ item, call }: { item: InboxItem; call: NonNullable<InboxItem["call"]> }): ReactNode {
  const [words, setWords] = useState("");
  const verification = useVerification(item.require);
  const answer = useAnswer((grant: PermissionGrant, key) => answerPermission(item, grant, words, key, grant === "no" ? undefined : verification.entry));
  const line = call.tool === "run_command" && Object.keys(call.arguments).length === 1 ? call.arguments.command : undefined;
  const shown = typeof line === "string" ? line : JSON.stringify(call.arguments, null, 2);
  const sending = (grant: PermissionGrant) => answer.isPending && answer.variables === grant;
  const looks: Partial<Record<string, "primary" | "danger">> = { once: "primary", no: "danger" };
  return (
    <>
      <div className="inbox-detail-body">
        <p className="ask-tool">
          <code>
            <Visible text={call.tool} />
          </code>
        </p>
        <pre className="ask-call" aria-label={t("ask.call")} tabIndex={0}>
          <Visible text={shown} />
        </pre>
        <p>
          <Visible text={call.reason} />
        </p>
        {call.always !== undefined && (
          <p className="ask-always">
            <Visible text={call.always} />
          </p>
        )}
      </div>
      <section className="decision" aria-label={t("ask.choose")}>
        {answer.isError && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(answer.error) })}</Banner>}
        <label className="decision-note">
          <span>{t("ask.words")}</span>
          <textarea rows={2} value={words} maxLength={16384} onChange={(event) => setWords(event.target.value)} />
        </label>
        {verification.fields}
        <div className="decision-row">
          <div className="decision-buttons">
            {item.actions.map(({ name, label }) => {
              const grant = name as PermissionGrant;
              return (
                <Button key={name} look={looks[name] ?? "plain"} off={grant === "no" ? undefined : verification.off} busy={answer.isPending} aria-busy={sending(grant)} onClick={() => answer.mutate(grant)}>
                  {label}
                </Button>
              );
            })}
          </div>
        </div>
      </section>
    </>
  );
}

function Questions({ item, questions }: { item: InboxItem; questions: NonNullable<InboxItem["questions"]> }): ReactNode {
  const [chosen, setChosen] = useState<readonly (readonly string[])[]>(() => questions.map(() => []));
  const [typed, setTyped] = useState<readonly string[]>(() => questions.map(() => ""));
  const answer = useAnswer((answers: string[], key) => answerQuestions(item, answers, key));
  const answers = questions.map((_, index) => [...(chosen[index] ?? []), (typed[index] ?? "").trim()].filter((text) => text !== "").join(", "));
  const missing = answers.findIndex((text) => text === "");
  const choose = (at: number, choice: string, many: boolean) =>
    setChosen((before) =>
      before.map((now, index) => (index !== at ? now : !many ? [choice] : now.includes(choice) ? now.filter((other) => other !== choice) : [...now, choice])),
    );
  return (
    <form
      className="ask-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (missing < 0 && !answer.isPending) answer.mutate(answers);
      }}
    >
      <div className="inbox-detail-body">
        {questions.map((question, at) => (
          <fieldset key={at} className="ask-question">
            <legend>
              <Visible text={question.text} />
            </legend>
            {question.choices.map((choice) => (
              <label key={choice} className="ask-choice">
                <input
                  type={question.many ? "checkbox" : "radio"}
                  name={`question-${at}`}
                  checked={(chosen[at] ?? []).includes(choice)}
                  onChange={() => choose(at, choice, question.many)}
                />
                <Visible text={choice} />
              </label>
            ))}
            <textarea
              rows={2}
              aria-label={question.choices.length > 0 ? t("ask.other") : question.text}
              placeholder={question.choices.length > 0 ? t("ask.other") : undefined}
              maxLength={16384}
              value={typed[at] ?? ""}
              onChange={(event) => setTyped((before) => before.map((now, index) => (index === at ? event.target.value : now)))}
            />
          </fieldset>
        ))}
      </div>
      <section className="decision" aria-label={t("ask.choose")}>
        {answer.isError && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(answer.error) })}</Banner>}
        <div className="decision-row">
          <div className="decision-buttons">
            <Button type="submit" look="primary" busy={answer.isPending} off={missing < 0 ? undefined : t("ask.missing", { n: missing + 1 })}>
              {t("ask.send")}
            </Button>
          </div>
        </div>
      </section>
    </form>
  );
}
