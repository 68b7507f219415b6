import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { ApiProblem, request } from "../api/client";
import { unsubscribeFromPushes } from "../api/push";
import { ApproversSection } from "../approval/ApproversSection";
import { healthQuery, serverQuery } from "../api/queries";
import { signedOut } from "../api/signIn";
import { useConnection } from "../live/live";
import { Pushes } from "../rooms/Pushes";
import { Clients, Undelivered } from "../rooms/ServerLists";
import { PageHead } from "../shell/Shell";
import { applyTheme, theme, type Theme } from "../shell/theme";
import { clockTime, t } from "../texts/t";
import { Button, errorWords, Time } from "../ui/basics";
import { say } from "../ui/toasts";

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function SettingsPage(): ReactNode {
  return (
    <main id="main" tabIndex={-1} className="page">
      <PageHead title={t("settings.title")} />
      <div className="page-body">
        <div className="settings">
          <Appearance />
          <Notifications />
          <About />
          <Health />
          <ApproversSection />
          <Clients />
          <Undelivered />
          <Access />
        </div>
      </div>
    </main>
  );
}

function Appearance(): ReactNode {
  const [chosen, setChosen] = useState(theme);
  return (
    <section>
      <h2>{t("settings.appearance")}</h2>
      <div className="segments" role="group" aria-label={t("settings.appearance")}>
        {THEMES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={chosen === one}
            onClick={() => {
              applyTheme(one);
              setChosen(one);
            }}
          >
            {t(`settings.theme.${one}`)}
          </button>
        ))}
      </div>
    </section>
  );
}

function Notifications(): ReactNode {
  const offered = typeof Notification !== "undefined";
  const [permission, setPermission] = useState(offered ? Notification.permission : "denied");
  return (
    <section>
      <h2>{t("settings.notifications")}</h2>
      <p className="secondary">{offered ? t(`settings.notify.${permission}`) : t("settings.notify.missing")}</p>
      {permission === "default" && <Button onClick={() => void Notification.requestPermission().then(setPermission)}>{t("settings.notifyAllow")}</Button>}
      <Pushes />
    </section>
  );
}

function About(): ReactNode {
  const server = useQuery(serverQuery).data;
  if (!server) return null;
  const { model, store } = server;
  return (
    <section>
      <h2>{t("settings.about")}</h2>
      <dl className="fields">
        <div>
          <dt>{t("settings.version")}</dt>
          <dd>{server.version}</dd>
        </div>
        <div>
          <dt>{t("settings.model")}</dt>
          <dd>{model.isRehearsal ? t("settings.rehearsal") : [model.provider, model.name].filter(Boolean).join(" · ")}</dd>
        </div>
        <div>
          <dt>{t("settings.store")}</dt>
          <dd>{store.kind}</dd>
        </div>
        <div>
          <dt>{t("settings.started")}</dt>
          <dd>
            <Time at={server.startedAt} />
          </dd>
        </div>
        {server.publicUrl !== null && (
          <div>
            <dt>{t("settings.publicUrl")}</dt>
            <dd>{server.publicUrl}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Health(): ReactNode {
  const health = useQuery(healthQuery);
  const connection = useConnection();
  const reasons = health.error instanceof ApiProblem && health.error.reasons.length > 0 ? health.error.reasons : health.isError ? [errorWords(health.error)] : [];
  return (
    <section>
      <h2>{t("settings.health")}</h2>
      <dl className="fields">
        <div>
          <dt>{t("settings.server")}</dt>
          <dd>{health.isSuccess ? <span data-tone="done">{t("settings.ready")}</span> : health.isError ? <span data-tone="failed">{reasons.join(" ")}</span> : t("state.loading")}</dd>
        </div>
        <div>
          <dt>{t("settings.live")}</dt>
          <dd>
            {t(`settings.connection.${connection.phase}`)}
            {connection.lastHeard !== undefined && <span className="secondary"> {t("connection.last", { time: clockTime(connection.lastHeard) })}</span>}
          </dd>
        </div>
        <div>
          <dt>{t("settings.api")}</dt>
          <dd>
            <a href="/api/openapi.json">/api/openapi.json</a>
          </dd>
        </div>
      </dl>
    </section>
  );
}

function Access(): ReactNode {
  const client = useQueryClient();
  return (
    <section>
      <h2>{t("settings.access")}</h2>
      <p className="secondary">{t("settings.accessWords")}</p>
      <Button
        icon="out"
        onClick={() =>
          void request("POST", "/api/logout", { body: {} }).then(
            () => {
              void unsubscribeFromPushes().catch(() => undefined);
              client.clear();
              signedOut();
            },
            (error: unknown) => say(errorWords(error), { tone: "failed" }),
          )
        }
      >
        {t("settings.signOut")}
      </Button>
    </section>
  );
}
