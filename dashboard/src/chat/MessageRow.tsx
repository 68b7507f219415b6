import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useState, type ReactNode } from "react";

import { fileAddress, isPicture } from "../api/files";
import { planQuery } from "../api/queries";
import type { Outgoing } from "../live/conversation";
import type { LiveTurn } from "../live/liveTurn";
import type { ChatMessage } from "../live/messages";
import { Markdown, SessionFilesContext, StreamingMarkdown } from "../markdown/Markdown";
import type { SessionId } from "../session/id";
import { clockTime, exactTime, t } from "../texts/t";
import { Button, sentence } from "../ui/basics";
import { CopyButton } from "../ui/CopyButton";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { PlanBadge, planState } from "../ui/status";
import { Refusal } from "../ui/Words";
import { mentionPieces } from "./mentions";
import type { Row } from "./rows";
import { ToolCalls } from "./ToolCalls";

export const MessageRow = memo(function MessageRow({ row, session, onDismiss }: { row: Row; session: SessionId; onDismiss: (key: string) => void }): ReactNode {
  switch (row.kind) {
    case "person":
      return <Person message={row.message} session={session} />;
    case "agent":
      return (
        <article className="message" data-role="agent">
          <Head name={row.message.by.name} at={row.message.at} text={row.message.text} />
          <SessionFilesContext value={session}>
            <Markdown text={row.message.text} />
          </SessionFilesContext>
        </article>
      );
    case "tools":
      return <ToolCalls calls={row.calls} session={session} />;
    case "note":
      return <Note message={row.message} />;
    case "plan":
      return <PlanCard planId={row.planId} />;
    case "command":
      return <Command outgoing={row.outgoing} reply={row.reply} onDismiss={onDismiss} />;
    case "queued":
      return <Queued outgoing={row.outgoing} onDismiss={onDismiss} />;
  }
});

function Head({ name, at, text }: { name: string; at: string; text: string }): ReactNode {
  return (
    <header className="message-head">
      <strong>{visible(name)}</strong>
      <time dateTime={at} title={exactTime(at)}>
        {clockTime(at)}
      </time>
      <CopyButton text={text} label={t("chat.copy")} />
    </header>
  );
}

function Person({ message, session }: { message: ChatMessage; session: SessionId }): ReactNode {
  return (
    <article className="message" data-role="person">
      <Head name={message.by.name === "person" ? t("chat.you") : message.by.name} at={message.at} text={message.text} />
      <Typed text={message.text} session={session} />
    </article>
  );
}

/** What a person typed: files that it names lead to them, and pictures are shown. */
function Typed({ text, session }: { text: string; session: SessionId }): ReactNode {
  const pieces = mentionPieces(text);
  const pictures = pieces.flatMap(({ path }) => (path !== undefined && isPicture(path) ? [path] : []));
  return (
    <>
      <div className="typed" dir="auto">
        {pieces.map((piece, index) =>
          piece.path === undefined ? (
            <Visible key={index} text={piece.text} />
          ) : (
            <a key={index} href={fileAddress(session, piece.path)} target="_blank" rel="noreferrer">
              <Visible text={piece.text} />
            </a>
          ),
        )}
      </div>
      {pictures.map((path) => (
        <img key={path} className="file-picture" src={fileAddress(session, path)} alt={visible(path)} loading="lazy" />
      ))}
    </>
  );
}

/** What Planwright says. The words that it hands to the agent are folded. */
function Note({ message }: { message: ChatMessage }): ReactNode {
  const [open, setOpen] = useState(false);
  if (message.outcome === undefined && message.by.kind !== "person" && message.text.length > 200) {
    return (
      <div className="note">
        <button type="button" className="tools-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name="chevron" size={12} />
          {t("chat.handed")}
        </button>
        {open && <Markdown text={message.text} />}
      </div>
    );
  }
  const bad = message.outcome !== undefined && BAD.has(message.outcome);
  return (
    <div className="note" data-tone={bad ? "failed" : undefined} role={bad ? "alert" : undefined}>
      <Markdown text={message.text} />
    </div>
  );
}

const BAD = new Set(["model_failed", "limit_reached", "looping", "no_answer", "interrupted"]);

export function PlanCard({ planId }: { planId: string }): ReactNode {
  const plan = useQuery(planQuery(planId));
  if (!plan.data) return <div className="plan-card plan-card-empty" />;
  const { data } = plan;
  return (
    <Link className="plan-card" to="/p/$plan" params={{ plan: planId }}>
      <span className="plan-card-head">
        <PlanBadge state={planState(data)} />
        <span className="secondary">
          {t("plan.number", { n: data.number })} · {t("plan.version", { n: data.version })} · {t("plan.steps", { count: data.steps.length })}
        </span>
      </span>
      <span className="plan-card-title" dir="auto">
        <Visible text={data.title} />
      </span>
      <span className="plan-card-act">
        {data.status === "READY" ? t("strip.review") : t("strip.open")} <Icon name="chevron" size={12} />
      </span>
    </Link>
  );
}

/** A command and its answer. They are not part of the conversation that the agent reads. */
function Command({ outgoing, reply, onDismiss }: { outgoing: Outgoing; reply: string; onDismiss: (key: string) => void }): ReactNode {
  return (
    <article className="command">
      <header>
        <code>
          <Visible text={outgoing.text} />
        </code>
        {outgoing.state === "sending" && <span className="secondary">{t("chat.sending")}</span>}
        {outgoing.state !== "sending" && (
          <button type="button" className="icon-button" aria-label={t("chat.dismiss")} title={t("chat.dismiss")} onClick={() => onDismiss(outgoing.key)}>
            <Icon name="close" size={14} />
          </button>
        )}
      </header>
      {reply !== "" && <Markdown text={reply} />}
      {outgoing.problem && (
        <div className="problem" role="alert">
          <Why detail={outgoing.problem.detail} />
        </div>
      )}
    </article>
  );
}

/** Why something was refused: a sentence, or a text with what the agent asks meanwhile. */
function Why({ detail }: { detail: string }): ReactNode {
  return detail.includes("\n") ? <Markdown text={detail} /> : <Refusal text={sentence(detail)} />;
}

function Queued({ outgoing, onDismiss }: { outgoing: Outgoing; onDismiss: (key: string) => void }): ReactNode {
  return (
    <article className="message" data-role="person" data-queued>
      <header className="message-head">
        <strong>{t("chat.you")}</strong>
        <span>{outgoing.state === "refused" ? t("chat.notSent") : t("chat.queued")}</span>
      </header>
      <div className="typed" dir="auto">
        <Visible text={outgoing.text} />
      </div>
      {outgoing.problem && (
        <div className="problem" role="alert">
          <Why detail={outgoing.problem.detail} />{" "}
          <Button look="quiet" onClick={() => onDismiss(outgoing.key)}>
            {t("chat.dismiss")}
          </Button>
        </div>
      )}
    </article>
  );
}

/** What the agent does now. */
export function LiveRow({ live }: { live: LiveTurn }): ReactNode {
  return (
    <div className="live">
      {live.step && (
        <p className="live-step">
          <Icon name="run" size={14} /> {t("live.step", { n: live.step.position, total: live.step.total })} <Visible text={live.step.about} />
        </p>
      )}
      {live.text !== "" && (
        <article className="message" data-role="agent">
          <StreamingMarkdown text={live.text} />
        </article>
      )}
      {live.tools.map((tool, index) => (
        <p key={index} className="live-tool">
          <span className="dot" data-tone={tool.status === undefined ? "running" : "quiet"} aria-hidden="true">
            <span className="pulse" />
          </span>
          <span>{tool.name}</span> <code className="call-detail"><Visible text={tool.detail} /></code>
        </p>
      ))}
      <p className="live-phase" role="status">
        <span className="pulse" aria-hidden="true" />
        {t(`live.${live.phase}`, { why: live.why ?? "" })}
      </p>
    </div>
  );
}
