import * as Radix from "@radix-ui/react-dropdown-menu";
import { useEffect, useRef, type ReactElement, type ReactNode } from "react";

import { Icon } from "./Icon";
import type { MenuItem } from "./Menu";

/** The menu itself. `opening` is what the person opened it with while it was still being loaded: the button gets it once more. */
export function MenuList({ trigger, items, opening }: { trigger: ReactElement; items: readonly MenuItem[]; opening: Event | undefined }): ReactNode {
  const button = useRef<HTMLButtonElement>(null);
  const first = useRef(opening);
  useEffect(() => {
    const event = first.current;
    first.current = undefined;
    if (event === undefined) return;
    // With keys the first item has the focus, with a pointer none.
    button.current?.focus();
    button.current?.dispatchEvent(event);
  }, []);
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild ref={button}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
          {items.map((item) => (
            <Radix.Item key={item.label} className="menu-item" data-danger={item.danger || undefined} onSelect={() => item.act()}>
              {item.icon && <Icon name={item.icon} />}
              {item.label}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
