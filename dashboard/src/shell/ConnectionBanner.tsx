import type { ReactNode } from "react";
import { useEffect, useState } from "react";

import { connection, useConnection } from "../live/live";
import { clockTime, t } from "../texts/t";
import { Banner, Button } from "../ui/basics";

/** Says in words that nothing new can arrive, and since when. A short break is not worth a word. */
export function ConnectionBanner(): ReactNode {
  const state = useConnection();
  const lost = state.phase === "waiting" || state.phase === "connecting";
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!lost) return setLate(false);
    const timer = setTimeout(() => setLate(true), 1_500);
    return () => clearTimeout(timer);
  }, [lost]);
  if (!late) return null;
  const since = state.lastHeard === undefined ? "" : ` ${t("connection.last", { time: clockTime(state.lastHeard) })}`;
  return (
    <Banner
      tone="waiting"
      icon="warning"
      actions={
        <Button look="quiet" onClick={() => connection.hurry()}>
          {t("connection.now")}
        </Button>
      }
    >
      {t("connection.lost")}
      {since}
    </Banner>
  );
}
