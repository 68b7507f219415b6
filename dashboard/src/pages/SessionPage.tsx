import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useMatch, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { renameSession } from "../api/decisions";
import { commandsQuery, planControlQuery, sessionsQuery, workbookQuery } from "../api/queries";
import { Composer, type Suggestion } from "../chat/Composer";
import { MessageList } from "../chat/MessageList";
import { forgetConversation, useConversation } from "../live/useLive";
import { PlanPanel, PlanStrip } from "../plan/PlanPanel";
import { deleteAfterAMoment } from "../session/deleting";
import { sessionIdOf, type SessionId } from "../session/id";
import { useSessionName } from "../session/SessionName";
import { usePageActions } from "../shell/pageActions";
import { PageHead } from "../shell/Shell";
import { t } from "../texts/t";
import { Button, Empty, errorWords, Failure, IconButton, Loading } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Menu } from "../ui/Menu";

/** A session: its rooms, and its plan beside them. Everything in it is made anew when another session is chosen. */
export function SessionPage(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  return <SessionRoom key={session} session={session} />;
}

function SessionRoom({ session }: { session: SessionId }): ReactNode {
  const isChat = useMatch({ from: "/s/$session/", shouldThrow: false }) !== undefined;
  return (
    <main id="main" tabIndex={-1} className="page session-page" data-chat={isChat || undefined} data-session={session}>
      <SessionHead session={session} />
      <div className="session-grid">
        <div className="session-main">
          <Outlet />
        </div>
        <aside className="panel" aria-label={t("panel.title")}>
          <PlanPanel session={session} />
        </aside>
      </div>
    </main>
  );
}

function SessionHead({ session }: { session: SessionId }): ReactNode {
  const sessions = useInfiniteQuery(sessionsQuery);
  const control = useQuery(planControlQuery(session));
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const found = sessions.data?.pages.flatMap((page) => page.sessions).find((one) => sessionIdOf(one) === session);
  const name = useSessionName(session);
  const mode = control.data?.planMode;
  usePageActions([
    { id: "rename", label: t("sessions.rename"), icon: "edit", act: () => setRenaming(true) },
    { id: "delete", label: t("sessions.delete"), icon: "trash", act: () => setAsking(true) },
  ]);
  return (
    <>
      <PageHead
        title={name}
        about={
          <>
            <span>{session.includes(":") ? session : `web:${session}`}</span>
            {mode && <span data-tone={mode.enabled ? "running" : undefined}>{mode.enabled ? t("mode.shortOn", { style: t(`style.${mode.style}`) }) : t("mode.shortOff")}</span>}
          </>
        }
        actions={
          <>
            <Rooms session={session} />
            <Menu trigger={<IconButton icon="more" label={t("session.more")} />} items={[{ label: t("sessions.rename"), icon: "edit", act: () => setRenaming(true) }, { label: t("sessions.delete"), icon: "trash", danger: true, act: () => setAsking(true) }]} />
          </>
        }
      />
      {renaming && <Rename session={session} title={found?.title ?? ""} onClose={() => setRenaming(false)} />}
      <Dialog open={asking} onClose={() => setAsking(false)} title={t("sessions.askDelete", { name })} look="sheet">
        <div className="ask">
          <p>{t("sessions.deleteWords")}</p>
          <div className="ask-buttons">
            <Button onClick={() => setAsking(false)}>{t("ask.back")}</Button>
            <Button
              look="danger"
              onClick={() => {
                setAsking(false);
                deleteAfterAMoment(session, name, () => {
                  forgetConversation(session);
                  client.removeQueries({ queryKey: ["plan-control-state", session] });
                  void client.invalidateQueries({ queryKey: ["sessions"] });
                  void client.invalidateQueries({ queryKey: ["inbox"] });
                });
                void navigate({ to: "/" });
              }}
            >
              {t("sessions.delete")}
            </Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}

/** A room appears when the server has what is in it. */
function Rooms({ session }: { session: SessionId }): ReactNode {
  const workbook = useQuery(workbookQuery(session)).data;
  const commands = useQuery(commandsQuery).data ?? [];
  const knows = (name: string) => commands.some((command) => command.name === name || command.name.startsWith(`${name} `));
  const hasWorkbook = workbook !== undefined && (workbook.current !== null || workbook.archives.length > 0 || workbook.on);
  const rooms = [
    ["/s/$session", t("rooms.chat"), true],
    ["/s/$session/goals", t("rooms.goals"), knows("/goal")],
    ["/s/$session/runs", t("rooms.runs"), knows("/auto")],
    ["/s/$session/memory", t("rooms.memory"), knows("/memory")],
    ["/s/$session/workbook", t("rooms.workbook"), hasWorkbook],
    ["/s/$session/files", t("rooms.files"), knows("/changes")],
    ["/s/$session/journal", t("rooms.journal"), true],
  ] as const;
  const shown = rooms.filter(([, , isThere]) => isThere);
  const navigate = useNavigate();
  usePageActions(shown.map(([to, words]) => ({ id: to, label: t("palette.show", { view: words }), icon: "list", act: () => void navigate({ to, params: { session } }) })));
  // On a phone the rooms scroll sideways; the one that is open is in view.
  const list = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    list.current?.querySelector('[aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [pathname, commands.length, hasWorkbook]);
  return (
    <nav className="segments" aria-label={t("rooms.title")} ref={list}>
      {shown.map(([to, words]) => (
        <Link key={to} to={to} params={{ session }} activeOptions={{ exact: to === "/s/$session" }} activeProps={{ "aria-current": "page" }}>
          {words}
        </Link>
      ))}
    </nav>
  );
}

function Rename({ session, title, onClose }: { session: SessionId; title: string; onClose: () => void }): ReactNode {
  const [words, setWords] = useState(title);
  const client = useQueryClient();
  const rename = useMutation({
    mutationFn: () => renameSession(session, words),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["sessions"] });
      onClose();
    },
  });
  return (
    <Dialog open onClose={onClose} title={t("sessions.rename")} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <label>
          <span>{t("sessions.renameLabel")}</span>
          <input autoFocus value={words} maxLength={200} onChange={(event) => setWords(event.target.value)} />
        </label>
        <p className="secondary">{t("sessions.renameWords")}</p>
        {rename.isError && (
          <p className="problem" role="alert">
            {errorWords(rename.error)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button type="submit" look="primary" busy={rename.isPending}>
            {t("sessions.renameSend")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function ChatRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  return <Chat key={session} session={session} />;
}

function Chat({ session }: { session: SessionId }): ReactNode {
  const [conversation, state] = useConversation(session);
  const [suggestion, setSuggestion] = useState<Suggestion>();
  if (state.status === "gone") return <Empty title={t("session.gone")} />;
  if (state.status === "failed") return <Failure error={state.error} retry={() => conversation.retry()} />;
  return (
    <>
      {state.status === "loading" && state.messages.length === 0 ? (
        <div className="messages-frame">
          <Loading words={t("chat.loading")} />
        </div>
      ) : (
        <MessageList conversation={conversation} state={state} empty={<Beginning onChoose={(text) => setSuggestion({ text })} />} />
      )}
      <PlanStrip session={session} />
      <Composer conversation={conversation} working={state.working} suggestion={suggestion} />
    </>
  );
}

/** What one can say first. It is put where one types, and not sent. */
const HINTS = [
  ["/plan move the blog to a new host", "chat.hintPlan"],
  ["/plan on collect", "chat.hintCollect"],
  ["/help", "chat.hintHelp"],
] as const;

function Beginning({ onChoose }: { onChoose: (text: string) => void }): ReactNode {
  return (
    <Empty title={t("chat.emptyTitle")}>
      <p>{t("chat.emptyWords")}</p>
      <ul className="hints">
        {HINTS.map(([words, about]) => (
          <li key={words}>
            <button type="button" onClick={() => onChoose(words)}>
              <code>{words}</code> <span>{t(about)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
