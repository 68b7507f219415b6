import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { endPushes, ownPushId, pushQuery, subscribeToPushes, tellOwnPushes, unsubscribeFromPushes, whyNoPushes } from "../api/push";
import type { PushSubscriptionOf } from "../api/types";
import { t } from "../texts/t";
import { Button, errorWords, Failure, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { say } from "../ui/toasts";
import { isMissing } from "./ServerLists";

/** Pushes to this browser, also while the page is closed, and the other browsers that get them. */
export function Pushes(): ReactNode {
  const push = useQuery(pushQuery);
  const cache = useQueryClient();
  const own = useQuery({ queryKey: ["push", "own"], queryFn: async () => (await ownPushId()) ?? null, staleTime: 0 }).data;
  const [busy, setBusy] = useState(false);
  const why = whyNoPushes();
  const found = push.data?.subscriptions.find(({ id }) => id === own);
  const others = push.data?.subscriptions.filter(({ id }) => id !== own) ?? [];

  // After signing in anew the browser has another name at the server.
  const told = useRef(false);
  useEffect(() => {
    if (found === undefined || found.current || told.current) return;
    told.current = true;
    void tellOwnPushes().catch(() => undefined);
  }, [found]);

  if (isMissing(push.error)) return null;
  if (push.isError) return <Failure error={push.error} retry={() => void push.refetch()} />;
  const { publicKey } = push.data ?? {};
  if (publicKey === undefined) return null;

  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
    } catch (error) {
      say(errorWords(error), { tone: "failed" });
    } finally {
      setBusy(false);
      await cache.invalidateQueries({ queryKey: ["push"] });
    }
  };
  const begin = () =>
    act(async () => {
      const isAllowed = await subscribeToPushes(publicKey);
      say(t(isAllowed ? "settings.pushIsOn" : "settings.pushNotAllowed"), { tone: isAllowed ? "done" : "failed" });
    });
  const end = (id: string) =>
    act(async () => {
      await endPushes(id);
      if (id === own) await unsubscribeFromPushes();
    });
  return (
    <>
      <p className="secondary">{why === undefined ? t(found ? "settings.push.on" : "settings.push.off") : t(`settings.push.${why}`)}</p>
      {why === undefined &&
        (found ? (
          <Button busy={busy} onClick={() => void end(found.id)}>
            {t("settings.pushEnd")}
          </Button>
        ) : (
          <Button busy={busy} onClick={() => void begin()}>
            {t("settings.pushBegin")}
          </Button>
        ))}
      {others.length > 0 && (
        <ul className="rows settings-list" aria-label={t("settings.pushOthers")}>
          {others.map((one) => (
            <PushRow key={one.id} one={one} busy={busy} end={() => void end(one.id)} />
          ))}
        </ul>
      )}
    </>
  );
}

function PushRow({ one, busy, end }: { one: PushSubscriptionOf; busy: boolean; end: () => void }): ReactNode {
  return (
    <li className="row">
      <div className="row-main">
        <span>
          <Visible text={one.name} />
        </span>
        <span className="facts">
          <span>
            {t("settings.pushSince")} <Time at={one.sinceAt} />
          </span>
        </span>
      </div>
      <Button busy={busy} aria-label={t("settings.pushEndOther", { name: visible(one.name) })} onClick={end}>
        {t("settings.pushEndShort")}
      </Button>
    </li>
  );
}
