import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { fetchSession, sessionsQuery } from "../api/queries";
import { sessionName } from "../shell/Sidebar";
import { sessionIdOf, type SessionId } from "./id";

/** The name of a session as the sidebar has it; its key until that is known. */
export function useSessionName(session: SessionId): string {
  const listed = useInfiniteQuery(sessionsQuery);
  const found = listed.data?.pages.flatMap((page) => page.sessions).find((one) => sessionIdOf(one) === session);
  const asked = useQuery({
    queryKey: ["sessions", "named", session],
    queryFn: ({ signal }) => fetchSession(session, signal),
    enabled: listed.isSuccess && found === undefined && session !== "",
    retry: false,
  });
  const known = found ?? asked.data;
  return known ? sessionName(known) : session;
}

export function SessionName({ session }: { session: SessionId }): ReactNode {
  return useSessionName(session);
}
