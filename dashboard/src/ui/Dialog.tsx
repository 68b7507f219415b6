import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";

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
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="overlay" />
        <Radix.Content className="dialog" data-look={look} aria-describedby={undefined}>
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
