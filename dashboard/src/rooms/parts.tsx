import { useId, useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { Button, errorWords } from "../ui/basics";
import { Dialog } from "../ui/Dialog";

/** A part of a room with its heading. */
export function RoomSection({ title, about, action, children }: { title: ReactNode; about?: ReactNode; action?: ReactNode; children: ReactNode }): ReactNode {
  const id = useId();
  return (
    <section className="room-section" aria-labelledby={id}>
      <header className="room-section-head">
        <h2 id={id}>{title}</h2>
        {about && <span className="secondary">{about}</span>}
        {action}
      </header>
      {children}
    </section>
  );
}

/** One line to type and a button. What was typed stays until the server has it. */
export function LineForm({ label, button, send, maxLength = 2_000 }: { label: string; button: string; send: (text: string) => Promise<unknown>; maxLength?: number }): ReactNode {
  const [text, setText] = useState("");
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const id = useId();
  const submit = async () => {
    const words = text.trim();
    if (words === "" || state.busy) return;
    setState({ busy: true });
    try {
      await send(words);
      setText("");
      setState({ busy: false });
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return (
    <form
      className="line-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label className="visually-hidden" htmlFor={id}>
        {label}
      </label>
      <input id={id} value={text} maxLength={maxLength} placeholder={label} autoComplete="off" onChange={(event) => setText(event.target.value)} />
      <Button type="submit" busy={state.busy} off={text.trim() === "" ? t("form.empty") : undefined}>
        {button}
      </Button>
      <Problem error={state.error} />
    </form>
  );
}

export function Problem({ error }: { error: unknown }): ReactNode {
  if (error === undefined || error === null) return null;
  return (
    <p className="problem" role="alert">
      {errorWords(error)}
    </p>
  );
}

/** Asks before something is done. It closes when the server has done it, and says why if it did not. */
export function Confirm({ title, act, button, danger = false, onClose, children }: { title: string; act: () => Promise<unknown>; button: string; danger?: boolean; onClose: () => void; children: ReactNode }): ReactNode {
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  const confirm = async () => {
    setState({ busy: true });
    try {
      await act();
      onClose();
    } catch (error) {
      setState({ busy: false, error });
    }
  };
  return (
    <Dialog open onClose={onClose} title={title} look="sheet">
      <div className="ask">
        {children}
        <Problem error={state.error} />
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button look={danger ? "danger" : "primary"} busy={state.busy} onClick={() => void confirm()}>
            {button}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
