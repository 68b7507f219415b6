import { useEffect, useState, type ButtonHTMLAttributes, type ReactNode, type Ref } from "react";

import { ApiProblem, NoAnswer } from "../api/client";
import { ago, exactTime, t } from "../texts/t";
import { Icon, type IconName } from "./Icon";

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  ref?: Ref<HTMLButtonElement>;
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  /** Why it cannot be pressed. A button that is off says so, and can still be reached by keyboard. */
  off?: string | undefined;
  busy?: boolean;
};

export function Button({ look = "plain", icon, off, busy = false, children, onClick, ...rest }: ButtonProps): ReactNode {
  const isOff = off !== undefined || busy;
  return (
    <button
      type="button"
      {...rest}
      className={`button ${rest.className ?? ""}`}
      data-look={look}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      title={off ?? rest.title}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function IconButton({ icon, label, ...rest }: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>): ReactNode {
  return (
    <button type="button" {...rest} className={`icon-button ${rest.className ?? ""}`} aria-label={label} title={rest.title ?? label}>
      <Icon name={icon} />
    </button>
  );
}

/** The time now, again every half a minute. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

export function Time({ at }: { at: string }): ReactNode {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {ago(at, now)}
    </time>
  );
}

/** Words for something that takes longer than a moment. */
export function Loading({ words }: { words?: string }): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p className="state" role="status">
      {late ? (words ?? t("state.loading")) : ""}
    </p>
  );
}

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <div className="empty-words">{children}</div>}
      {action}
    </div>
  );
}

export function Failure({ error, retry, safe }: { error: unknown; retry?: () => void; safe?: string }): ReactNode {
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{errorTitle(error)}</strong> {errorWords(error)}
      </p>
      {safe && <p className="secondary">{safe}</p>}
      {retry && (
        <Button onClick={retry} look="plain">
          {t("state.retry")}
        </Button>
      )}
    </div>
  );
}

function errorTitle(error: unknown): string {
  if (error instanceof ApiProblem && error.status === 404) return t("error.notFound");
  if (error instanceof ApiProblem) return t("error.refused");
  if (error instanceof NoAnswer) return t("error.offline");
  return t("error.unexpected");
}

/** One sentence in the server's words, with its end. */
export function errorWords(error: unknown): string {
  if (error instanceof ApiProblem) return sentence(error.detail);
  if (error instanceof NoAnswer) return t("error.noAnswer");
  if (typeof error === "object" && error !== null && "detail" in error && typeof error.detail === "string") return sentence(error.detail);
  return error instanceof Error ? sentence(error.message) : "";
}

export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const capital = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}

export function Banner({ tone, icon, children, actions }: { tone: "waiting" | "running" | "done" | "failed" | "quiet"; icon?: IconName; children: ReactNode; actions?: ReactNode }): ReactNode {
  return (
    <div className="banner" data-tone={tone} role="status">
      {icon && <Icon name={icon} />}
      <div className="banner-words">{children}</div>
      {actions && <div className="banner-actions">{actions}</div>}
    </div>
  );
}

export function Keys({ of }: { of: string }): ReactNode {
  return (
    <kbd className="keys" aria-hidden="true">
      {of}
    </kbd>
  );
}
