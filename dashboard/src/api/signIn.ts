import { useSyncExternalStore } from "react";

/** Whether this browser is signed in. It is taken to be until a request says otherwise. */
let state: "in" | "out" = "in";
const listeners = new Set<() => void>();

export function signedOut(): void {
  set("out");
}

export function signedIn(): void {
  set("in");
}

export function useSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => state) === "in";
}

export function onSignInChange(listener: () => void): () => void {
  return subscribe(listener);
}

export function isSignedIn(): boolean {
  return state === "in";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: "in" | "out"): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

/**
 * The addresses that the server and `planwright dashboard` print end in `#link=…`, which works once. The secret leaves the address
 * bar before anything else happens.
 */
export function takeSecretFromAddress(): { kind: "token" | "link"; secret: string } | undefined {
  const found = /^#(token|link)=(.+)$/.exec(location.hash);
  if (!found?.[2]) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return { kind: found[1] === "link" ? "link" : "token", secret: decodeURIComponent(found[2]) };
  } catch {
    return undefined;
  }
}
