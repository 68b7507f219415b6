import { takeEarlyAnswer } from "../live/early";
import { parseExact, stringifyExact } from "./exactJson";
import { signedOut } from "./signIn";
import type { Plan, RefusalCode } from "./types";

/** The server refused, and said why. */
export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: RefusalCode | "UNKNOWN",
    readonly detail: string,
    /** The plan as it is now, where that helps. */
    readonly plan: Plan | undefined,
    readonly reasons: readonly string[],
    /** Everything the server said. */
    readonly fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
    this.name = "ApiProblem";
  }
}

/** No answer came. Whether the request arrived is not known. */
export class NoAnswer extends Error {
  constructor(cause: unknown) {
    super("no answer", { cause });
    this.name = "NoAnswer";
  }
}

export interface RequestOptions {
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** Bytes to send instead of JSON. */
  file?: Blob;
  signal?: AbortSignal | undefined;
  /** Sent again under the same key, a request is carried out once. */
  idempotencyKey?: string;
  /** With a passphrase, a refusal is about that and not about the sign-in. */
  hasPassphrase?: boolean;
}

let held: Promise<void> | undefined;

/** Reads wait for this before they are sent. */
export function holdReads(until: Promise<void>): void {
  held = until;
}

export async function request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
  const answer = await send(method, path, options);
  if (answer.status === 204) return undefined as T;
  try {
    return parseExact(await answer.text()) as T;
  } catch (error) {
    throw new NoAnswer(error);
  }
}

export async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = {};
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  else if (options.file !== undefined) headers["Content-Type"] = "application/octet-stream";
  if (options.idempotencyKey !== undefined) headers["Idempotency-Key"] = options.idempotencyKey;
  if (method === "GET") await held;
  let answer: Response;
  try {
    const asked = path + queryString(options.query);
    const early = method === "GET" ? takeEarlyAnswer(asked) : undefined;
    answer = await (early ?? fetch(asked, {
      method,
      headers,
      credentials: "same-origin",
      body: options.body === undefined ? (options.file ?? null) : stringifyExact(options.body),
      signal: options.signal ?? null,
    }));
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new NoAnswer(error);
  }
  if (answer.ok) return answer;
  const problem = await readProblem(answer);
  if (problem.status === 401 && !path.startsWith("/api/login") && options.hasPassphrase !== true) signedOut();
  throw problem;
}

async function readProblem(answer: Response): Promise<ApiProblem> {
  const body: unknown = await answer.json().catch(() => ({}));
  const fields = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  return new ApiProblem(
    answer.status,
    (typeof fields.code === "string" ? fields.code : "UNKNOWN") as RefusalCode | "UNKNOWN",
    typeof fields.detail === "string" ? fields.detail : answer.statusText,
    fields.plan as Plan | undefined,
    Array.isArray(fields.reasons) ? fields.reasons.filter((reason) => typeof reason === "string") : [],
    fields,
  );
}

function queryString(query: RequestOptions["query"]): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parts.set(name, String(value));
  }
  const text = parts.toString();
  return text === "" ? "" : `?${text}`;
}
