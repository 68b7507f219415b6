import * as Radix from "@radix-ui/react-dialog";
import { useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { IconButton } from "./basics";

export function Dialog({
  open,
  onClose,
  title,
  hideTitle = false,
  look = "centre",
  children,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  hideTitle?: boolean;
  look?: "centre" | "palette" | "drawer" | "sheet";
  children: ReactNode;
}): ReactNode {
  const [before, setBefore] = useState<Element | null>(() => (open ? opener() : null));
  const [wasOpen, setWasOpen] = useState(open);
  if (open !== wasOpen) {
    setWasOpen(open);
    // While it is drawn the focus is still where it was.
    if (open) setBefore(opener());
  }
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content
          className="dialog"
          data-look={look}
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => {
            // The library knows only its own triggers. Where the focus was may be gone with what was done.
            event.preventDefault();
            // Another dialog was opened while this one was closing: the focus is in it.
            if (document.querySelector('[role="dialog"][data-state="open"]')) return;
            const element = before?.isConnected ? before : document.getElementById("main");
            if (element instanceof HTMLElement) element.focus();
          }}
        >
          <header className={hideTitle ? "visually-hidden" : "dialog-head"}>
            <Radix.Title>{title}</Radix.Title>
            {!hideTitle && (
              <Radix.Close asChild>
                <IconButton icon="close" label={t("dialog.close")} />
              </Radix.Close>
            )}
          </header>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** What the person opened a dialog with. An entry of a menu is gone by the end of it; the menu's button is not. */
function opener(): Element | null {
  const active = document.activeElement;
  const button = active?.closest('[role="menu"]')?.getAttribute("aria-labelledby");
  return button ? document.getElementById(button) : active;
}
