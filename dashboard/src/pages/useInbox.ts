import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { inboxQuery } from "../api/queries";
import type { InboxItem } from "../api/types";
import { useNow } from "../ui/basics";
import { byUrgency, inboxItemKey } from "./inboxItems";
import { isPutOff, useNotNow } from "./notNow";

/** What waits for the person, and what they put off; both the most urgent first. */
export function useInbox() {
  const query = useQuery(inboxQuery);
  const putOff = useNotNow();
  const now = useNow(60_000);
  const { items, later } = useMemo(() => {
    const all = byUrgency(query.data ?? []);
    const is = (item: InboxItem) => isPutOff(putOff, inboxItemKey(item), now);
    return { items: all.filter((item) => !is(item)), later: all.filter(is) };
  }, [query.data, putOff, now]);
  return { query, items, later };
}
