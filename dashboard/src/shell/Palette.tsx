import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from "react";

import { inboxQuery, sessionSearchQuery, sessionsQuery } from "../api/queries";
import { byUrgency, inboxPlan, inboxTitle, isAboutPlan } from "../pages/inboxItems";
import { sessionIdOf } from "../session/id";
import { t } from "../texts/t";
import { visible } from "../ui/hidden";
import { Dialog } from "../ui/Dialog";
import { Icon, type IconName } from "../ui/Icon";
import { pageActions } from "./pageActions";
import { sessionName, useNewSession } from "./Sidebar";
import { applyTheme, theme } from "./theme";

interface Choice {
  id: string;
  label: string;
  about?: string;
  icon: IconName;
  act: () => void;
}

export function Palette({ open, onClose, onHelp }: { open: boolean; onClose: () => void; onHelp: () => void }): ReactNode {
  return (
    <Dialog open={open} onClose={onClose} title={t("palette.title")} hideTitle look="palette">
      <Choices onClose={onClose} onHelp={onHelp} />
    </Dialog>
  );
}

function Choices({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }): ReactNode {
  const navigate = useNavigate();
  const begin = useNewSession();
  const sessions = useInfiniteQuery(sessionsQuery);
  const inbox = useQuery(inboxQuery);
  const [search, setSearch] = useState("");
  // What the page offered when the palette was opened: it is behind it.
  const [here] = useState(pageActions);
  // The server knows sessions that the sidebar has not read yet.
  const asked = useDeferredValue(search.trim());
  const found = useInfiniteQuery({ ...sessionSearchQuery(asked), enabled: asked.length > 1, placeholderData: keepPreviousData });
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);

  const choices = useMemo<Choice[]>(() => {
    const waiting = byUrgency(inbox.data ?? []).map((item) => ({
      id: `i-${item.kind}-${item.id}`,
      label: visible(item.title),
      about: inboxTitle(item),
      icon: "inbox" as const,
      act: () => void (isAboutPlan(item) ? navigate({ to: "/p/$plan", params: { plan: inboxPlan(item) } }) : navigate({ to: "/", search: { item: item.id } })),
    }));
    const onPage = here.map(({ id, label, icon, key, act }) => ({ id: `h-${id}`, label, icon, act, about: key === undefined ? t("palette.here") : t("palette.hereKey", { key }) }));
    const acts: Choice[] = [
      { id: "a-new", label: t("sessions.new"), icon: "plus", act: () => begin.mutate() },
      { id: "a-inbox", label: t("inbox.title"), icon: "inbox", act: () => void navigate({ to: "/" }) },
      { id: "a-settings", label: t("settings.title"), icon: "gear", act: () => void navigate({ to: "/settings" }) },
      { id: "a-keys", label: t("keys.title"), icon: "keyboard", act: onHelp },
      {
        id: "a-theme",
        label: t("palette.theme"),
        icon: "swap",
        act: () => applyTheme(theme() === "dark" || (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches) ? "light" : "dark"),
      },
    ];
    const bySearch = asked.length > 1 ? (found.data?.pages.flatMap((page) => page.sessions) ?? []) : [];
    const known = new Map([...(sessions.data?.pages.flatMap((page) => page.sessions) ?? []), ...bySearch].map((session) => [sessionIdOf(session), session]));
    const wanted = new Set(bySearch.map((session) => `s-${sessionIdOf(session)}`));
    const listed = [...known.values()].map((session) => ({
      id: `s-${sessionIdOf(session)}`,
      label: sessionName(session),
      about: sessionIdOf(session),
      icon: "comment" as const,
      act: () => void navigate({ to: "/s/$session", params: { session: sessionIdOf(session) } }),
    }));
    const words = search.trim().toLowerCase().split(/\s+/);
    return [...waiting, ...onPage, ...acts, ...listed]
      .filter((choice) => wanted.has(choice.id) || words.every((word) => `${choice.label} ${choice.about ?? ""}`.toLowerCase().includes(word)))
      .slice(0, 50);
  }, [here, inbox.data, sessions.data, found.data, asked, search, navigate, begin, onHelp]);

  useEffect(() => {
    setAt(0);
  }, [search]);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);

  const act = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    choice.act();
  };
  return (
    <>
      <label className="palette-search">
        <Icon name="search" />
        <span className="visually-hidden">{t("palette.search")}</span>
        <input
          autoFocus
          value={search}
          placeholder={t("palette.search")}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={choices[at] ? `palette-${choices[at].id}` : undefined}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || (event.ctrlKey && event.key === "n")) setAt(Math.min(at + 1, choices.length - 1));
            else if (event.key === "ArrowUp" || (event.ctrlKey && event.key === "p")) setAt(Math.max(at - 1, 0));
            else if (event.key === "Enter") act(choices[at]);
            else return;
            event.preventDefault();
          }}
        />
      </label>
      <ul id="palette-list" role="listbox" className="palette-list" ref={list} aria-label={t("palette.title")}>
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={`palette-${choice.id}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setAt(index)}
            onClick={() => act(choice)}
          >
            <Icon name={choice.icon} />
            <span className="palette-label" dir="auto">{choice.label}</span>
            {choice.about && <span className="palette-about">{choice.about}</span>}
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p className="state">{t("palette.none")}</p>}
    </>
  );
}
