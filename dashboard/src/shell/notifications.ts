import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import type { InboxItem } from "../api/types";
import { t } from "../texts/t";
import { visible } from "../ui/hidden";
import { inboxItemKey, inboxPlan, inboxTitle, isAboutPlan } from "../pages/inboxItems";

/** The page's title counts what waits, and the browser says so where the person allowed it. */
export function useInboxNotifications(items: readonly InboxItem[] | undefined): void {
  const known = useRef<Set<string> | undefined>(undefined);
  const navigate = useNavigate();
  const count = items?.length ?? 0;
  useEffect(() => {
    document.title = count > 0 ? t("title.count", { count }) : t("app.name");
    const app = navigator as Navigator & { setAppBadge?: (n: number) => Promise<void>; clearAppBadge?: () => Promise<void> };
    if (count > 0) void app.setAppBadge?.(count).catch(() => undefined);
    else void app.clearAppBadge?.().catch(() => undefined);
  }, [count]);
  useEffect(() => {
    if (!items) return;
    const before = known.current;
    known.current = new Set(items.map(inboxItemKey));
    if (!before || document.visibilityState === "visible") return;
    if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
    for (const item of items) {
      if (before.has(inboxItemKey(item))) continue;
      const notification = notify(item);
      if (!notification) return;
      notification.onclick = () => {
        window.focus();
        void (isAboutPlan(item) ? navigate({ to: "/p/$plan", params: { plan: inboxPlan(item) } }) : navigate({ to: "/", search: { item: item.id } }));
      };
    }
  }, [items, navigate]);
}

/** Browsers of phones have the class and forbid to use it in a page. */
function notify(item: InboxItem): Notification | undefined {
  try {
    return new Notification(inboxTitle(item), { body: visible(item.title), tag: inboxItemKey(item), icon: "/icon-192.png" });
  } catch {
    return undefined;
  }
}
