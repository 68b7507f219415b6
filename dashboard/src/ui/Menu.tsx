import { cloneElement, useState, type KeyboardEvent, type PointerEvent, type ReactElement, type ReactNode } from "react";

import { t } from "../texts/t";
import type { IconName } from "./Icon";
import { say } from "./toasts";

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  act: () => void;
}

type Loaded = typeof import("./MenuList").MenuList;
let loaded: Loaded | undefined;

/** Menus come with the first thing that the person does on the page: nothing that is read needs them. */
export async function loadMenus(): Promise<Loaded> {
  return (loaded ??= (await import("./MenuList")).MenuList);
}

if (typeof document !== "undefined") {
  for (const event of ["pointermove", "pointerdown", "keydown", "focusin"]) document.addEventListener(event, () => void loadMenus().catch(() => undefined), { once: true, capture: true, passive: true });
}

export function Menu({ trigger, items }: { trigger: ReactElement<Record<string, unknown>>; items: readonly MenuItem[] }): ReactNode {
  const [List, setList] = useState<Loaded | undefined>(() => loaded);
  const [opening, setOpening] = useState<Event>();
  if (List) return <List trigger={trigger} items={items} opening={opening} />;
  const open = (event: Event) => {
    loadMenus().then(
      (list) => {
        setOpening(event);
        setList(() => list);
      },
      () => say(t("menu.notLoaded"), { tone: "failed" }),
    );
  };
  return cloneElement(trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || event.ctrlKey) return;
      event.preventDefault();
      open(new window.PointerEvent("pointerdown", { bubbles: true, cancelable: true, button: 0 }));
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (!["Enter", " ", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      open(new window.KeyboardEvent("keydown", { bubbles: true, cancelable: true, key: event.key }));
    },
  });
}
