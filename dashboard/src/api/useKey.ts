import { useRef } from "react";

import { newId } from "./newId";

/**
 * The idempotency key of what a form sends. The same request that is sent again after a lost answer has the same key and is
 * carried out once; another request, or one after a success, has a new one.
 */
export function useKey(): { of: (request: unknown) => string; renew: () => void } {
  const kept = useRef<{ request: string; key: string } | undefined>(undefined);
  return {
    of: (request) => {
      const text = JSON.stringify(request ?? null);
      if (kept.current?.request !== text) kept.current = { request: text, key: newId() };
      return kept.current.key;
    },
    renew: () => {
      kept.current = undefined;
    },
  };
}
