import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";

import { useSignedIn } from "../api/signIn";
import { useWatchSessions } from "../live/useLive";
import { SignIn } from "../pages/SignIn";
import { useInbox } from "../pages/useInbox";
import { t } from "../texts/t";
import { IconButton } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { Toasts } from "../ui/toasts";
import { ConnectionBanner } from "./ConnectionBanner";
import { KeyHelp } from "./KeyHelp";
import { useKeys } from "./keys";
import { useInboxNotifications } from "./notifications";
import { Palette } from "./Palette";
import { Sidebar } from "./Sidebar";

interface ShellActions {
  openMenu: () => void;
  openPalette: () => void;
}

const ShellContext = createContext<ShellActions>({ openMenu: () => undefined, openPalette: () => undefined });

export function useShell(): ShellActions {
  return useContext(ShellContext);
}

export function Shell(): ReactNode {
  const signedIn = useSignedIn();
  return (
    <>
      {signedIn ? <Frame /> : <SignIn />}
      <Toasts />
    </>
  );
}

function Frame(): ReactNode {
  const [menu, setMenu] = useState(false);
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const navigate = useNavigate();
  const place = useRouterState({ select: (state) => state.location.pathname });
  const { query: inbox, items } = useInbox();
  useWatchSessions();
  useInboxNotifications(inbox.data && items);
  useEffect(() => {
    setMenu(false);
  }, [place]);

  useKeys({
    "mod+k": () => setPalette(true),
    "?": () => setHelp(true),
    "/": () => document.querySelector<HTMLElement>("[data-search]")?.focus(),
    i: () => void navigate({ to: "/" }),
  });

  const actions = useMemo(() => ({ openMenu: () => setMenu(true), openPalette: () => setPalette(true) }), []);
  return (
    <ShellContext value={actions}>
      <a className="skip" href="#main">
        {t("shell.skip")}
      </a>
      <div className="frame">
        <Sidebar onPalette={() => setPalette(true)} />
        <div className="stage">
          <ConnectionBanner />
          <Outlet />
        </div>
      </div>
      <Dialog open={menu} onClose={() => setMenu(false)} title={t("shell.menu")} look="drawer" hideTitle>
        <Sidebar onPalette={() => setPalette(true)} inDrawer />
      </Dialog>
      <Palette open={palette} onClose={() => setPalette(false)} onHelp={() => setHelp(true)} />
      <KeyHelp open={help} onClose={() => setHelp(false)} />
    </ShellContext>
  );
}

/** The head of every page: on a phone it also leads to the menu and the inbox. */
export function PageHead({ title, about, actions, back }: { title: ReactNode; about?: ReactNode; actions?: ReactNode; back?: ReactNode }): ReactNode {
  const { openMenu } = useShell();
  const count = useInbox().items.length;
  return (
    <header className="page-head">
      <IconButton className="only-small" icon="menu" label={t("shell.menu")} onClick={openMenu} />
      {back}
      <div className="page-title">
        <h1 dir="auto">{title}</h1>
        {about && <div className="page-about">{about}</div>}
      </div>
      <div className="page-actions">{actions}</div>
      <Link to="/" className="only-small inbox-link" aria-label={t("shell.inboxCount", { count })}>
        <span className="count" data-some={count > 0 || undefined}>
          {count}
        </span>
      </Link>
    </header>
  );
}
