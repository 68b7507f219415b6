import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

import { Icon, type IconName } from "./Icon";

export interface MenuItem {
  label: string;
  icon?: IconName;
  danger?: boolean;
  act: () => void;
}

export function Menu({ trigger, items }: { trigger: ReactNode; items: readonly MenuItem[] }): ReactNode {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
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
