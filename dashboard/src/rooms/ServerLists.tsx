import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";

import { ApiProblem } from "../api/client";
import { signOutClient } from "../api/decisions";
import { unsubscribeFromPushes } from "../api/push";
import { clientsQuery, undeliveredQuery } from "../api/queries";
import { signedOut } from "../api/signIn";
import type { ClientBrowser, UndeliveredMessage } from "../api/types";
import { t } from "../texts/t";
import { Button, Failure, Loading, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { Confirm } from "./parts";

/** A server that does not have the call has nothing to show. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || error.status === 405);
}

/** The browsers that are signed in, and how to end that. */
export function Clients(): ReactNode {
  const clients = useQuery(clientsQuery);
  if (isMissing(clients.error)) return null;
  return (
    <section>
      <h2>{t("settings.clients")}</h2>
      {clients.isPending && <Loading />}
      {clients.isError && <Failure error={clients.error} retry={() => void clients.refetch()} />}
      {clients.data?.length === 0 && <p className="secondary">{t("settings.noClients")}</p>}
      {clients.data && clients.data.length > 0 && (
        <ul className="rows settings-list" aria-label={t("settings.clients")}>
          {clients.data.map((client) => (
            <ClientRow key={client.id} client={client} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ClientRow({ client }: { client: ClientBrowser }): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const cache = useQueryClient();
  const name = visible(client.name);
  const act = async () => {
    await signOutClient(client.id);
    if (client.current) {
      void unsubscribeFromPushes().catch(() => undefined);
      cache.clear();
      signedOut();
      return;
    }
    say(t("settings.clientIsOut", { name }), { tone: "done" });
    await cache.invalidateQueries({ queryKey: ["clients"] });
  };
  return (
    <li className="row">
      <div className="row-main">
        <span>
          <Visible text={client.name} /> {client.current && <span className="tag">{t("settings.thisClient")}</span>}
        </span>
        <span className="facts">
          <span>{t(`settings.clientKind.${client.kind}`)}</span>
          <span>
            {t("settings.clientSeen")} <Time at={client.lastSeenAt} />
          </span>
          <span>
            {t("settings.clientSince")} <Time at={client.createdAt} />
          </span>
        </span>
      </div>
      <Button aria-label={t("settings.clientOut", { name })} onClick={() => setAsking(true)}>
        {t("settings.signOut")}
      </Button>
      {isAsking && (
        <Confirm title={t("settings.askClientOut", { name })} button={t("settings.clientOutSend")} danger act={act} onClose={() => setAsking(false)}>
          <p>{t("settings.clientOutWords")}</p>
        </Confirm>
      )}
    </li>
  );
}

/** What people were to be told and were not. */
export function Undelivered(): ReactNode {
  const messages = useQuery(undeliveredQuery);
  if (isMissing(messages.error)) return null;
  return (
    <section>
      <h2>{t("settings.undelivered")}</h2>
      {messages.isPending && <Loading />}
      {messages.isError && <Failure error={messages.error} retry={() => void messages.refetch()} />}
      {messages.data?.length === 0 && <p className="secondary">{t("settings.allDelivered")}</p>}
      {messages.data && messages.data.length > 0 && (
        <ul className="rows settings-list" aria-label={t("settings.undelivered")}>
          {messages.data.map((message) => (
            <UndeliveredRow key={message.id} message={message} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The person who was not told can decide from here. */
function UndeliveredRow({ message }: { message: UndeliveredMessage }): ReactNode {
  const navigate = useNavigate();
  const path = message.path !== null && isPageOfOurs(message.path) ? message.path : undefined;
  return (
    <li className="row">
      <div className="row-main">
        <span>
          <Visible text={message.text} />
        </span>
        <span className="facts">
          <span>{message.channel}</span>
          <span>{t(`settings.happening.${message.happening as "waits"}`)}</span>
          <span>{t("settings.attempts", { count: message.attempts })}</span>
          {message.givenUp && <span data-tone="failed">{t("settings.givenUp")}</span>}
          <Time at={message.sinceAt} />
        </span>
        {message.lastError !== null && (
          <span className="problem">
            <Visible text={message.lastError} />
          </span>
        )}
      </div>
      {path !== undefined && (
        <a
          className="button"
          href={path}
          aria-label={`${t("settings.openAbout")}: ${visible(message.text)}`}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            void navigate({ href: path });
          }}
        >
          {t("settings.openAbout")}
        </a>
      )}
    </li>
  );
}

/** An address without a host. */
export function isPageOfOurs(path: string): boolean {
  return /^\/(?![\\/])/.test(path);
}
