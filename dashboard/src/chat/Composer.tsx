import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";

import { stopSession } from "../api/decisions";
import { attachFile, fileAddress, filesQuery, isPicture } from "../api/files";
import { commandsQuery } from "../api/queries";
import { useSessionAsk } from "../ask/AskCard";
import type { Conversation } from "../live/conversation";
import { useConnection } from "../live/live";
import { sessionIdOf } from "../session/id";
import { t } from "../texts/t";
import { errorWords, IconButton } from "../ui/basics";
import { visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { say } from "../ui/toasts";
import { completions, type Completion } from "./commands";
import { completeMention, mentionAt, mentionPieces } from "./mentions";

/** How many files are offered at once. */
const OFFERED = 8;

/** The largest message that the server takes, in bytes. */
const MAX_BYTES = 256 * 1024;

export interface Suggestion {
  text: string;
}

/** `suggestion` is a text that the person chose elsewhere on the page; a new one replaces what is typed. */
export function Composer({ conversation, working, suggestion }: { conversation: Conversation; working: boolean; suggestion?: Suggestion | undefined }): ReactNode {
  const { session } = conversation;
  const [text, setText] = useState(() => draftOf(session));
  const [at, setAt] = useState(0);
  const [closed, setClosed] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const navigate = useNavigate();
  const { phase } = useConnection();
  const stop = useMutation({ mutationFn: () => stopSession(session), onError: (error) => say(errorWords(error), { tone: "failed" }) });
  const commands = useQuery({ ...commandsQuery, enabled: text.startsWith("/") });
  const [cursor, setCursor] = useState(text.length);
  const mention = closed ? undefined : mentionAt(text, cursor);
  const files = useQuery({ ...filesQuery(session, mention?.prefix ?? "", OFFERED), enabled: mention !== undefined, placeholderData: keepPreviousData, retry: false });
  const [uploads, setUploads] = useState(0);
  const offered: Completion[] =
    mention !== undefined
      ? (files.data?.files ?? []).filter(({ path }) => path.startsWith(mention.prefix) && path !== mention.prefix).map(({ path, directory }) => ({ text: `@${path}`, about: directory ? t("composer.folder") : "", file: { path, directory } }))
      : closed
        ? []
        : completions(text, commands.data ?? []);
  const pictures = mentionPieces(text).flatMap(({ path }) => (path !== undefined && isPicture(path) ? [path] : []));

  useEffect(() => {
    keepDraft(session, text);
  }, [session, text]);
  useEffect(() => {
    setAt(0);
  }, [text]);
  useEffect(() => {
    if (!suggestion) return;
    setText(suggestion.text);
    setCursor(suggestion.text.length);
    field.current?.focus();
  }, [suggestion]);
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 240)}px`;
  }, [text]);

  const ask = useSessionAsk(session);
  const tooLong = text.length > MAX_BYTES / 4 && new TextEncoder().encode(text).length > MAX_BYTES;
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
    if (chosen?.file && mention) {
      const next = completeMention(text, cursor, mention, chosen.file.path, chosen.file.directory);
      type(next.text, next.cursor);
    } else if (chosen) type(chosen.text, chosen.text.length);
    field.current?.focus();
  };
  /** Sets the text with the cursor in it. */
  const type = (next: string, at: number) => {
    setText(next);
    setCursor(at);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };
  /** Files go into the session's folder at once, and into the text by their names. */
  const attach = (chosen: readonly File[]) => {
    if (chosen.length === 0) return;
    setUploads((n) => n + 1);
    Promise.all(chosen.map((file) => attachFile(session, file)))
      .then((stored) => setText((before) => `${before === "" || /\s$/.test(before) ? before : `${before} `}${stored.map(({ path }) => `@${path} `).join("")}`))
      .catch((error: unknown) => say(errorWords(error), { tone: "failed" }))
      .finally(() => {
        setUploads((n) => n - 1);
        field.current?.focus();
      });
  };

  return (
    <div className="composer-frame">
      <div className="column">
        {offered.length > 0 && (
          <ul className="completions" id="completions" role="listbox" aria-label={mention === undefined ? t("composer.commands") : t("composer.files")}>
            {offered.map((one, index) => (
              <li key={one.text} id={`completion-${index}`} role="option" aria-selected={index === at} onMouseDown={(event) => event.preventDefault()} onClick={() => complete(index)}>
                <code>{visible(one.text)}</code>
                <span className="secondary">{one.about}</span>
              </li>
            ))}
          </ul>
        )}
        {pictures.length > 0 && (
          <ul className="thumbnails" aria-label={t("composer.pictures")}>
            {pictures.map((path) => (
              <li key={path}>
                <img src={fileAddress(session, path)} alt={visible(path)} />
              </li>
            ))}
          </ul>
        )}
        <form
          className="composer"
          onDragOver={(event) => {
            if (event.dataTransfer.types.includes("Files")) event.preventDefault();
          }}
          onDrop={(event) => {
            if (event.dataTransfer.files.length === 0) return;
            event.preventDefault();
            attach([...event.dataTransfer.files]);
          }}
          onSubmit={(event) => {
            event.preventDefault();
            send();
          }}
        >
          <label className="visually-hidden" htmlFor="composer">
            {t("composer.label")}
          </label>
          <label className="icon-button attach" title={t("composer.attach")} aria-busy={uploads > 0 || undefined}>
            <Icon name="plus" />
            <span className="visually-hidden">{t("composer.attach")}</span>
            <input
              type="file"
              multiple
              className="visually-hidden"
              onChange={(event) => {
                const chosen = [...(event.target.files ?? [])];
                event.target.value = "";
                attach(chosen);
              }}
            />
          </label>
          <textarea dir="auto"
            id="composer"
            ref={field}
            rows={1}
            value={text}
            placeholder={ask ? t("composer.ask") : working ? t("composer.working") : t("composer.placeholder")}
            aria-controls={offered.length > 0 ? "completions" : undefined}
            aria-activedescendant={offered.length > 0 ? `completion-${at}` : undefined}
            onChange={(event) => {
              setText(event.target.value);
              setCursor(event.target.selectionStart);
              setClosed(false);
            }}
            onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
            onPaste={(event) => {
              if (event.clipboardData.files.length === 0) return;
              event.preventDefault();
              attach([...event.clipboardData.files]);
            }}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return;
              if (offered.length > 0 && event.key === "ArrowDown") setAt((at + 1) % offered.length);
              else if (offered.length > 0 && event.key === "ArrowUp") setAt((at + offered.length - 1) % offered.length);
              else if (offered.length > 0 && event.key === "Tab" && !event.shiftKey) complete(at);
              else if (offered.length > 0 && event.key === "Escape") setClosed(true);
              else if (mention !== undefined && offered.length > 0 && event.key === "Enter" && !event.shiftKey) complete(at);
              else if (event.key === "Enter" && !event.shiftKey) send();
              else return;
              event.preventDefault();
            }}
          />
          {working && <IconButton icon="stop" label={t("composer.stop")} className="stop" onClick={() => stop.mutate()} />}
          <IconButton icon="send" label={t("composer.send")} type="submit" className="send" disabled={text.trim() === "" || tooLong} />
        </form>
        {(tooLong || phase === "waiting" || uploads > 0) && (
          <p className="composer-words" role="status">
            {tooLong ? t("composer.tooLong") : uploads > 0 ? t("composer.uploading") : t("composer.offline")}
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
