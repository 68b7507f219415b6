import { useSyncExternalStore } from "react";

import { deleteSession } from "../api/decisions";
import { t } from "../texts/t";
import { errorWords } from "../ui/basics";
import { say } from "../ui/toasts";
import type { SessionId } from "./id";

/** How long a deletion can be undone. Until then nothing is deleted; leaving the page undoes it. */
const UNDO = 10_000;

let hidden: ReadonlySet<SessionId> = new Set();
const listeners = new Set<() => void>();

function change(edit: (set: Set<SessionId>) => void): void {
  const next = new Set(hidden);
  edit(next);
  hidden = next;
  for (const listener of listeners) listener();
}

export function useHiddenSessions(): ReadonlySet<SessionId> {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => hidden,
  );
}

export function isHidden(set: ReadonlySet<SessionId>, id: SessionId): boolean {
  return set.has(id);
}

export function deleteAfterAMoment(id: SessionId, name: string, deleted: () => void): void {
  change((set) => set.add(id));
  say(t("sessions.deleted", { name }), {
    for: UNDO,
    action: { label: t("undo"), act: () => change((set) => set.delete(id)) },
    onEnd: () => {
      deleteSession(id)
        .then(deleted)
        .catch((error: unknown) => {
          change((set) => set.delete(id));
          say(t("sessions.deleteFailed", { name, why: errorWords(error) }), { tone: "failed" });
        });
    },
  });
}
