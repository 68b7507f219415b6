import { useSyncExternalStore } from "react";

import { isSignedIn, onSignInChange } from "../api/signIn";
import { holdReads, request } from "../api/client";
import { Connection, type ConnectionState, type SocketLike } from "./connection";
import { takeEarlySocket } from "./early";
import { FirstNews } from "./firstNews";

/** The one connection of this page. */
export const connection = new Connection(
  () => takeEarlySocket() ?? (new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`) as unknown as SocketLike),
  checkCredentials,
);

/** A refused WebSocket does not say why; a request does, and signs this browser out if the cookie is not valid. */
function checkCredentials(): void {
  void request("GET", "/api/sessions", { query: { limit: 1 } }).catch(() => undefined);
}

export function useConnection(): ConnectionState {
  return useSyncExternalStore(
    (listener) => connection.watch(listener),
    () => connection.state,
  );
}

let firstNews: FirstNews | undefined;

/** Whether the change that is told of now made nothing old, because nothing was asked before it. */
export function isFirstNews(): boolean {
  return firstNews?.isNow === true;
}

export function keepConnected(): void {
  const follow = () => {
    if (isSignedIn()) connection.start();
    else connection.stop();
  };
  firstNews = new FirstNews(connection);
  holdReads(firstNews.awaited);
  onSignInChange(follow);
  window.addEventListener("online", () => connection.hurry());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") connection.hurry();
  });
  // A handshake that is refused with 401 looks like a lost connection.
  let failures = 0;
  connection.watch(() => {
    if (connection.state.phase === "open") failures = 0;
    if (connection.state.phase === "waiting" && (failures += 1) % 3 === 1) checkCredentials();
  });
  follow();
}
