import { queryOptions } from "@tanstack/react-query";

import { sessionQuery, type SessionId } from "../session/id";
import { request, send } from "./client";
import type { SessionFiles, StoredFile } from "./types";

const path = encodeURIComponent;

/** Files and folders whose path begins with this. */
export function filesQuery(id: SessionId, prefix: string, limit: number) {
  const { sessionId, channel } = sessionQuery(id);
  return queryOptions({
    queryKey: ["files", id, prefix, limit],
    queryFn: ({ signal }) => request<SessionFiles>("GET", `/api/sessions/${path(sessionId)}/files`, { query: { channel, prefix, limit }, signal }),
    staleTime: 2_000,
  });
}

/** Where the bytes of a file are. */
export function fileAddress(id: SessionId, file: string): string {
  const { sessionId, channel } = sessionQuery(id);
  const query = new URLSearchParams({ path: file, ...(channel === undefined ? {} : { channel }) });
  return `/api/sessions/${path(sessionId)}/files/content?${query.toString()}`;
}

/** The beginning of a text file; larger and other files are offered for download only. */
export function fileTextQuery(id: SessionId, file: string) {
  return queryOptions({
    queryKey: ["files", id, "text", file],
    queryFn: async ({ signal }) => (await send("GET", fileAddress(id, file), { signal })).text(),
    staleTime: 2_000,
  });
}

/** Puts a file of the person into the session's folder. The server makes its name safe and answers with its path. */
export function attachFile(id: SessionId, file: File): Promise<StoredFile> {
  const { sessionId, channel } = sessionQuery(id);
  return request<StoredFile>("POST", `/api/sessions/${path(sessionId)}/files`, { query: { channel, name: file.name }, file });
}

/** Formats that a browser shows and that cannot contain a program. */
export function isPicture(file: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif)$/i.test(file);
}
