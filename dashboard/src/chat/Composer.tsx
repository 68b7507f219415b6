import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

import { stopSession } from "../api/decisions";
import type { Conversation } from "../live/conversation";
import { useConnection } from "../live/live";
import { sessionIdOf } from "../session/id";
import { t } from "../texts/t";
import { errorWords, IconButton } from "../ui/basics";
import { say } from "../ui/toasts";
import { completions } from "./commands";

/** The largest message that the server takes, in bytes. */
const MOST = 256 * 1024;

export function Composer({ conversation, working }: { conversation: Conversation; working: boolean }): ReactNode {
  const { session } = conversation;
  const [text, setText] = useState(() => draftOf(session));
  const [at, setAt] = useState(0);
  const [closed, setClosed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const navigate = useNavigate();
  const { phase } = useConnection();
  const stop = useMutation({ mutationFn: () => stopSession(session), onError: (error) => say(errorWords(error), { tone: "failed" }) });
  const offered = closed ? [] : completions(text);

  useEffect(() => {
    keepDraft(session, text);
  }, [session, text]);
  useEffect(() => {
    setAt(0);
  }, [text]);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
  }, [text]);

  const tooLong = text.length > MOST / 4 && new TextEncoder().encode(text).length > MOST;
  const send = () => {
    const words = text.trim();
    if (words === "" || tooLong) return;
    setText("");
    setClosed(false);
    void conversation.send(words).then((answer) => {
      // `/new` and `/switch` answer with the session one is in then.
      if (answer && words.startsWith("/") && sessionIdOf(answer) !== session) void navigate({ to: "/s/$session", params: { session: sessionIdOf(answer) } });
    });
  };
  const complete = (index: number) => {
    const chosen = offered[index];
    if (chosen) setText(chosen.text);
    field.current?.focus();
  };

  return (
    <div className="composer-frame">
      <div className="column">
        {offered.length > 0 && (
          <ul className="completions" id="completions" role="listbox" aria-label={t("composer.commands")}>
            {offered.map((one, index) => (
              <li key={one.text} id={`completion-${index}`} role="option" aria-selected={index === at} onMouseDown={(event) => event.preventDefault()} onClick={() => complete(index)}>
                <code>{one.text}</code>
                <span className="secondary">{one.about}</span>
              </li>
            ))}
          </ul>
        )}
        <form
          className="composer"
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <label className="visually-hidden" htmlFor="composer">
            {t("composer.label")}
          </label>
          <textarea
            id="composer"
            ref={field}
            rows={1}
            value={text}
            placeholder={working ? t("composer.working") : t("composer.placeholder")}
            aria-controls={offered.length > 0 ? "completions" : undefined}
            aria-activedescendant={offered.length > 0 ? `completion-${at}` : undefined}
            onChange={(event) => {
              setText(event.target.value);
              setClosed(false);
            }}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (offered.length > 0 && event.key === "ArrowDown") setAt((at + 1) % offered.length);
              else if (offered.length > 0 && event.key === "ArrowUp") setAt((at + offered.length - 1) % offered.length);
              else if (offered.length > 0 && event.key === "Tab" && !event.shiftKey) complete(at);
              else if (offered.length > 0 && event.key === "Escape") setClosed(true);
              else if (event.key === "Enter" && !event.shiftKey) send();
              else return;
              event.preventDefault();
            }}
          />
          {working && <IconButton icon="stop" label={t("composer.stop")} className="stop" onClick={() => stop.mutate()} />}
          <IconButton icon="send" label={t("composer.send")} type="submit" className="send" disabled={text.trim() === "" || tooLong} />
        </form>
        {(tooLong || phase === "waiting") && (
          <p className="composer-words" role="status">
            {tooLong ? t("composer.tooLong") : t("composer.offline")}
          </p>
        )}
      </div>
    </div>
  );
}

const KEY = "planwright.draft.";

function draftOf(session: string): string {
  try {
    return sessionStorage.getItem(KEY + session) ?? "";
  } catch {
    return "";
  }
}

function keepDraft(session: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(KEY + session);
    else sessionStorage.setItem(KEY + session, text);
  } catch {
    // Without storage an unsent text is kept until the page is left.
  }
}
