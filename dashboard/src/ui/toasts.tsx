import { useSyncExternalStore, type ReactNode } from "react";

import { t } from "../texts/t";
import { Button, IconButton } from "./basics";
import { Words } from "./Words";

export interface Toast {
  id: number;
  words: string;
  tone: "quiet" | "failed" | "done";
  action?: { label: string; act: () => void } | undefined;
}

let toasts: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();
const change = (next: readonly Toast[]) => {
  toasts = next;
  for (const listener of listeners) listener();
};

/** Says something in the corner. It stays as long as `for` says, and `onEnd` is called when that time is over. */
export function say(words: string, options: { tone?: Toast["tone"]; for?: number; action?: Toast["action"]; onEnd?: () => void } = {}): () => void {
  const id = (count += 1);
  const close = () => {
    clearTimeout(timer);
    change(toasts.filter((toast) => toast.id !== id));
  };
  const timer = setTimeout(() => {
    close();
    options.onEnd?.();
  }, options.for ?? 6_000);
  const action = options.action && {
    label: options.action.label,
    act: () => {
      close();
      options.action?.act();
    },
  };
  change([...toasts, { id, words, tone: options.tone ?? "quiet", action }]);
  return close;
}

export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className="toast" data-tone={toast.tone}>
          <span>
            <Words text={toast.words} />
          </span>
          {toast.action && (
            <Button look="quiet" onClick={toast.action.act}>
              {toast.action.label}
            </Button>
          )}
          <IconButton icon="close" label={t("dialog.close")} onClick={() => change(toasts.filter((other) => other.id !== toast.id))} />
        </div>
      ))}
    </div>
  );
}
