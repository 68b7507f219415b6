import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { permitAct, type Proof } from "../api/acts";
import { answerPermission, answerQuestions, type PermissionAnswer, type PermissionGrant } from "../api/decisions";
import { newId } from "../api/newId";
import { inboxQuery, planQuery } from "../api/queries";
import type { InboxItem } from "../api/types";
import { useSigning } from "../approval/useSigning";
import { inboxTitle, isAsk } from "../pages/inboxItems";
import { sessionIdOf, type SessionId } from "../session/id";
import { SessionName } from "../session/SessionName";
import { useKeys } from "../shell/keys";
import { t } from "../texts/t";
import { Banner, Button, errorWords, Time } from "../ui/basics";
import { Visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { say } from "../ui/toasts";
import { Words } from "../ui/Words";
import { CallAsked } from "./CallAsked";
import { EditCall } from "./EditCall";
import { editableTexts, editedCall } from "./editedCall";

/** What the agent of a session asks now: a session asks one thing at a time. */
export function useSessionAsk(session: SessionId): InboxItem | undefined {
  return useQuery(inboxQuery).data?.find((item) => isAsk(item) && sessionIdOf(item) === session);
}

/** What an agent asks, with the answers a person can give. The same card stands in the chat, the plan, its execution and the inbox. */
export function AskCard({ item, where }: { item: InboxItem; where: "inbox" | "chat" | "plan" }): ReactNode {
  return (
    <section className="ask-card" data-where={where} aria-label={inboxTitle(item)}>
      <header className={where === "inbox" ? "inbox-detail-head" : "ask-card-head"}>
        <div className="page-about">
          <span className="ask-kind">
            <Icon name="question" size={14} /> {inboxTitle(item)}
          </span>
          <Time at={item.since} />
          {where !== "chat" && (
            <Link to="/s/$session" params={{ session: sessionIdOf(item) }}>
              <SessionName session={sessionIdOf(item)} />
            </Link>
          )}
          {item.planId !== undefined && <AskedFor planId={item.planId} isHere={where === "plan"} />}
        </div>
        <h2 dir="auto">
          <Visible text={item.title} />
        </h2>
      </header>
      {item.call ? <Permission key={item.id} item={item} call={item.call} /> : <Questions key={item.id} item={item} questions={item.questions ?? []} />}
    </section>
  );
}

/** The plan and the step that the agent works on; on the page of the plan, the step. */
function AskedFor({ planId, isHere }: { planId: string; isHere: boolean }): ReactNode {
  const plan = useQuery(planQuery(planId)).data;
  if (!plan) return null;
  const at = plan.steps.find((step) => step.status === "IN_PROGRESS");
  if (isHere) return at ? <span>{t("step.number", { n: at.position })}</span> : null;
  return (
    <Link to="/p/$plan" params={{ plan: planId }}>
      {at ? t("ask.forStep", { number: plan.number, n: at.position }) : t("plan.number", { n: plan.number })} <Visible text={plan.title} />
    </Link>
  );
}

/** One key for each answer, so that an answer that is sent again counts once. */
function useAnswer<T>(send: (answer: T, key: string) => Promise<{ words: string }>) {
  const client = useQueryClient();
  const key = useRef(newId());
  return useMutation({
    mutationFn: (answer: T) => send(answer, key.current),
    onSuccess: (answered) => say(answered.words, { tone: "done" }),
    onError: () => {
      key.current = newId();
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ["inbox"] }),
  });
}

/** The key of each answer. */
const KEYS: Record<PermissionGrant, string> = { once: "1", plan: "2", always: "3", no: "n" };
const LOOKS: Partial<Record<PermissionGrant, "primary" | "danger">> = { once: "primary", no: "danger" };

/** How long a card is on the screen before a key answers it, in milliseconds: nobody answers what they cannot have read. */
const MIN_SHOWN = 600;

function Permission({ item, call }: { item: InboxItem; call: NonNullable<InboxItem["call"]> }): ReactNode {
  const [words, setWords] = useState("");
  const [texts, setTexts] = useState<Record<string, string>>();
  const edited = texts === undefined ? undefined : editedCall(call.arguments, texts);
  const wrong = edited && "wrong" in edited ? edited.wrong : undefined;
  const changed = edited && "args" in edited && edited.isChanged ? edited.args : undefined;
  const signing = useSigning(item.require, "permit");
  const answer = useAnswer(({ given, proof }: { given: PermissionAnswer; proof: Proof | undefined }, key) => answerPermission(item, given, key, proof));
  const shownAt = useRef(Infinity);
  useEffect(() => {
    shownAt.current = performance.now();
  }, []);
  // What was changed is another call: it is allowed once.
  const actions = item.actions.filter(({ name }) => texts === undefined || name === "no" || name === "once");
  const off = wrong === undefined ? undefined : t("ask.editWrong", { name: wrong });
  const give = (grant: PermissionGrant) => {
    const action = actions.find(({ name }) => name === grant);
    if (action === undefined || answer.isPending || (grant !== "no" && off !== undefined)) return;
    const given = { grant, words, args: grant === "once" ? changed : undefined };
    void signing.begin({
      title: t("sign.permit"),
      send: action.label,
      shown: <CallAsked session={sessionIdOf(item)} tool={call.tool} args={given.args ?? call.arguments} />,
      act: grant === "no" ? undefined : permitAct(item, given),
      perform: (proof) => answer.mutateAsync({ given, proof }),
    });
  };
  const byKey = (grant: PermissionGrant) => () => {
    if (performance.now() - shownAt.current >= MIN_SHOWN) give(grant);
  };
  useKeys({ 1: byKey("once"), 2: byKey("plan"), 3: byKey("always"), n: byKey("no") });
  return (
    <>
      <div className="inbox-detail-body">
        <CallAsked session={sessionIdOf(item)} tool={call.tool} args={changed ?? call.arguments} />
        {texts !== undefined && <EditCall texts={texts} wrong={wrong} onChange={setTexts} />}
        {Object.keys(call.arguments).length > 0 && (
          <p>
            <Button look="quiet" icon="edit" aria-expanded={texts !== undefined} onClick={() => setTexts(texts === undefined ? editableTexts(call.arguments) : undefined)}>
              {t(texts === undefined ? "ask.change" : "ask.asMade")}
            </Button>
          </p>
        )}
        <p className="ask-why">
          <span className="secondary">{t("ask.why")}</span> <Words text={call.reason} />
        </p>
        {call.always !== undefined && texts === undefined && (
          <p className="ask-always">
            <span className="secondary">{t("ask.always")}</span> <Words text={call.always} />
          </p>
        )}
      </div>
      <section className="decision" aria-label={t("ask.choose")}>
        {signing.problem !== undefined && <Banner tone="failed" icon="warning">{t("ask.failed", { why: errorWords(signing.problem) })}</Banner>}
        <label className="decision-note">
          <span>{t("ask.words")}</span>
          <textarea dir="auto" rows={1} value={words} maxLength={16384} onChange={(event) => setWords(event.target.value)} />
        </label>
        {signing.note}
        <div className="decision-row">
          <div className="decision-buttons">
            {actions.map(({ name, label }) => {
              const grant = name as PermissionGrant;
              return (
                <Button key={name} look={LOOKS[grant] ?? "plain"} off={grant === "no" ? undefined : off} busy={answer.isPending} aria-busy={answer.isPending && answer.variables.given.grant === grant} aria-keyshortcuts={KEYS[grant]} onClick={() => give(grant)}>
                  {grant === "once" && changed !== undefined ? t("ask.onceChanged") : label}
                  <kbd className="keys" aria-hidden="true">
                    {KEYS[grant]}
                  </kbd>
                </Button>
              );
            })}
          </div>
        </div>
        {signing.dialog}
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
            <textarea dir="auto"
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
