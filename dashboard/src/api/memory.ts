import { infiniteQueryOptions } from "@tanstack/react-query";

import { sessionQuery, type SessionId } from "../session/id";
import { once, signed, type Proof } from "./acts";
import { command } from "./auto";
import { request } from "./client";
import type { Answer, Memories, Memory, MemoryKind } from "./types";

const path = encodeURIComponent;

/** With words the best first, each with the shares of its score; without words the newest first. */
export function memoryQuery(id: SessionId, words: string) {
  return infiniteQueryOptions({
    queryKey: ["memory", id, words],
    queryFn: ({ pageParam, signal }) =>
      request<Memories>("GET", "/api/memory", {
        query: { ...sessionQuery(id), limit: words === "" ? 50 : 20, ...(words === "" ? { before: pageParam } : { q: words, explain: "true" }) },
        signal,
      }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (words === "" ? (page.next ?? undefined) : undefined),
  });
}

export function saveMemory(id: SessionId, content: string, kind: MemoryKind, key: string): Promise<Memory> {
  return request("POST", "/api/memory", { body: { ...sessionQuery(id), content, kind }, idempotencyKey: key });
}

export function forgetMemory(id: SessionId, memory: string): Promise<void> {
  return request("DELETE", `/api/memory/${path(memory)}`, { query: sessionQuery(id) });
}

export function promoteMemory(id: SessionId, memory: Pick<Memory, "id" | "digest">, key: string, proof?: Proof): Promise<Memory> {
  return request("POST", `/api/memory/${path(memory.id)}/promote`, { query: sessionQuery(id), body: { ...signed(proof, memory.digest) }, ...once(key, proof) });
}

export function undoMemory(id: SessionId): Promise<Answer> {
  return command(id, "/memory undo");
}
