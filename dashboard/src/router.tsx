import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from "@tanstack/react-router";

import { InboxPage } from "./pages/InboxPage";
import type { InboxView } from "./pages/InboxTools";
import type { PlanView } from "./pages/PlanPage";
import { Shell } from "./shell/Shell";
import { t } from "./texts/t";
import { Empty, Failure } from "./ui/basics";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <main id="main" tabIndex={-1} className="page">
      <Empty title={t("error.noPage")} action={<Link to="/">{t("inbox.title")}</Link>} />
    </main>
  ),
});

const INBOX_VIEWS: readonly InboxView[] = ["plans", "asks", "stopped", "tools", "later"];
const inbox = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: InboxPage,
  validateSearch: (search: Record<string, unknown>): { item?: string | undefined; view?: InboxView | undefined } => ({
    item: typeof search.item === "string" ? search.item : undefined,
    view: INBOX_VIEWS.find((one) => one === search.view),
  }),
});

const session = createRoute({ getParentRoute: () => root, path: "/s/$session", component: lazyRouteComponent(() => import("./pages/SessionPage"), "SessionPage") });
const chat = createRoute({ getParentRoute: () => session, path: "/", component: lazyRouteComponent(() => import("./pages/SessionPage"), "ChatRoom") });
const workbook = createRoute({
  getParentRoute: () => session,
  path: "workbook",
  component: lazyRouteComponent(() => import("./pages/WorkbookRoom"), "WorkbookRoom"),
});
const journal = createRoute({
  getParentRoute: () => session,
  path: "journal",
  component: lazyRouteComponent(() => import("./pages/JournalRoom"), "JournalRoom"),
});

const goals = createRoute({
  getParentRoute: () => session,
  path: "goals",
  component: lazyRouteComponent(() => import("./pages/GoalsRoom"), "GoalsRoom"),
});
const runs = createRoute({
  getParentRoute: () => session,
  path: "runs",
  component: lazyRouteComponent(() => import("./pages/RunsRoom"), "RunsRoom"),
});
const memory = createRoute({
  getParentRoute: () => session,
  path: "memory",
  component: lazyRouteComponent(() => import("./pages/MemoryRoom"), "MemoryRoom"),
});
const files = createRoute({
  getParentRoute: () => session,
  path: "files",
  component: lazyRouteComponent(() => import("./pages/FilesRoom"), "FilesRoom"),
});

const VIEWS: readonly PlanView[] = ["plan", "changes", "files", "history", "raw"];
const plan = createRoute({
  getParentRoute: () => root,
  path: "/p/$plan",
  component: lazyRouteComponent(() => import("./pages/PlanPage"), "PlanPage"),
  validateSearch: (search: Record<string, unknown>): { view?: PlanView | undefined; from?: number | undefined; to?: number | undefined } => {
    const view = VIEWS.find((one) => one === search.view);
    const number = (value: unknown) => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined);
    return { view, from: number(search.from), to: number(search.to) };
  },
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/p/$plan/run/$number",
  component: lazyRouteComponent(() => import("./pages/ExecutionPage"), "ExecutionPage"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/SettingsPage"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([inbox, session.addChildren([chat, goals, runs, memory, workbook, files, journal]), plan, run, settings]),
  defaultPreload: "intent",
  defaultErrorComponent: ({ error }) => (
    <main id="main" tabIndex={-1} className="page">
      <Failure error={error} retry={() => location.reload()} safe={t("error.pageSafe")} />
    </main>
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
