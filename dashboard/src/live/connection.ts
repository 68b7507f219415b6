import { sessionIdOf, sessionQuery, type SessionId } from "../session/id";
import type { Answer } from "../api/types";
import type { EntryFrame, ProblemFrame, Progress, SessionChange, SessionNews } from "./frames";

/** The WebSocket, kept open. A session that is followed misses no entry and gets none twice, over any number of reconnects. */
export interface ConnectionState {
  phase: "connecting" | "open" | "waiting" | "stopped";
  /** When something last arrived. */
  lastHeard: number | undefined;
  /** When the next attempt begins, while waiting. */
  retryAt: number | undefined;
}

export type Listener = (news: SessionNews) => void;
export type ChangeListener = (change: SessionChange) => void;

export interface SocketLike {
  readyState: number;
  send(text: string): void;
  close(): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
}

interface Following {
  listeners: Set<Listener>;
  /** The last entry that arrived; the next connection begins behind it. */
  seq: number | undefined;
}

interface Sending {
  session: SessionId;
  text: string;
  key: string;
  resolve: (outcome: SendOutcome) => void;
}

export type SendOutcome =
  | { kind: "answer"; answer: Answer; seq: number }
  | { kind: "problem"; problem: ProblemFrame };

/** Waits between attempts, in milliseconds. */
const WAITS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];
const PING_EVERY = 20_000;
const SILENCE_TIMEOUT_MS = 45_000;

export class Connection {
  #state: ConnectionState = { phase: "stopped", lastHeard: undefined, retryAt: undefined };
  #socket: SocketLike | undefined;
  #attempts = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pings: ReturnType<typeof setInterval> | undefined;
  #following = new Map<SessionId, Following>();
  #sending = new Map<string, Sending>();
  #watchers = new Set<() => void>();
  #changeListeners = new Set<ChangeListener>();

  constructor(
    private readonly open: () => SocketLike,
    /** The server ended the connection because the credentials are not valid any more. */
    private readonly refused: () => void,
    private readonly now: () => number = Date.now,
  ) {}

  get state(): ConnectionState {
    return this.#state;
  }

  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  start(): void {
    if (this.#state.phase === "stopped") this.#connect();
  }

  stop(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#pings);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#set({ phase: "stopped", retryAt: undefined });
  }

  /** Tries at once, for example when the browser is online again. */
  hurry(): void {
    if (this.#state.phase !== "waiting") return;
    clearTimeout(this.#retry);
    this.#connect();
  }

  /** Follows a session from behind `after`; without it from now on. */
  follow(session: SessionId, listener: Listener, after?: number): () => void {
    let following = this.#following.get(session);
    const isNew = following === undefined;
    if (!following) {
      following = { listeners: new Set(), seq: after };
      this.#following.set(session, following);
    }
    following.listeners.add(listener);
    if (isNew || (after !== undefined && (following.seq === undefined || after < following.seq))) {
      if (after !== undefined) following.seq = after;
      this.#subscribe(session, following);
    }
    return () => this.#leave(session, listener);
  }

  /** Tells which sessions are written to, all of them. After a lost connection it may have been any. */
  onChange(listener: ChangeListener): () => void {
    this.#changeListeners.add(listener);
    if (this.#changeListeners.size === 1) this.#say({ type: "watch" });
    return () => {
      this.#changeListeners.delete(listener);
      if (this.#changeListeners.size === 0) this.#say({ type: "unwatch" });
    };
  }

  /** Sends a message for the agent or a command. After a broken connection it is sent again under the same key. */
  sendMessage(session: SessionId, text: string, key: string): Promise<SendOutcome> {
    return new Promise((resolve) => {
      const sending = { session, text, key, resolve };
      this.#sending.set(key, sending);
      this.#transmit(sending);
    });
  }

  #leave(session: SessionId, listener: Listener): void {
    const following = this.#following.get(session);
    if (!following) return;
    following.listeners.delete(listener);
    if (following.listeners.size > 0) return;
    this.#following.delete(session);
    this.#say({ type: "unsubscribe", ...sessionQuery(session) });
  }

  #connect(): void {
    this.#set({ phase: "connecting", retryAt: undefined });
    const socket = this.open();
    this.#socket = socket;
    socket.onopen = () => {
      if (this.#socket !== socket) return;
      this.#attempts = 0;
      this.#set({ phase: "open", lastHeard: this.now() });
      if (this.#changeListeners.size > 0) this.#say({ type: "watch" });
      for (const [session, following] of this.#following) this.#subscribe(session, following);
      for (const sending of this.#sending.values()) this.#transmit(sending);
      clearInterval(this.#pings);
      this.#pings = setInterval(() => this.#ping(), PING_EVERY);
    };
    socket.onmessage = (event) => {
      if (this.#socket === socket) this.#hear(event.data);
    };
    socket.onclose = (event) => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      clearInterval(this.#pings);
      if (event.code === 1008) this.refused();
      if (this.#state.phase !== "stopped") this.#waitAndRetry();
    };
  }

  #waitAndRetry(): void {
    const wait = WAITS[Math.min(this.#attempts, WAITS.length - 1)] ?? 15_000;
    this.#attempts += 1;
    // Many browsers come back after a restart of the server; they do not all come in the same moment.
    const spread = wait * (0.8 + 0.4 * Math.random());
    this.#set({ phase: "waiting", retryAt: this.now() + spread });
    this.#retry = setTimeout(() => this.#connect(), spread);
  }

  #ping(): void {
    if (this.now() - (this.#state.lastHeard ?? 0) > SILENCE_TIMEOUT_MS) {
      const socket = this.#socket;
      this.#socket = undefined;
      clearInterval(this.#pings);
      socket?.close();
      this.#waitAndRetry();
      return;
    }
    this.#say({ type: "ping" });
  }

  #subscribe(session: SessionId, following: Following): void {
    this.#say({
      type: "subscribe",
      ...sessionQuery(session),
      ...(following.seq === undefined ? {} : { after: following.seq }),
    });
  }

  #transmit(sending: Sending): void {
    const { session, text, key } = sending;
    this.#say({ type: "message", ...sessionQuery(session), text, id: key, key });
  }

  #say(frame: Record<string, unknown>): void {
    if (this.#socket && this.#state.phase === "open") this.#socket.send(JSON.stringify(frame));
  }

  #hear(data: unknown): void {
    this.#state = { ...this.#state, lastHeard: this.now() };
    if (typeof data !== "string") return;
    let frame: Record<string, unknown>;
    try {
      frame = JSON.parse(data) as Record<string, unknown>;
    } catch {
      return;
    }
    const { type, sessionId, channel, id } = frame;
    if (type === "pong") return;
    if (type === "watching") return this.#changed({ session: undefined, kinds: [] });
    if (type === "changed") return this.#changed(readChange(frame));
    if (typeof id === "string" && this.#sending.has(id)) return this.#answered(id, frame);
    if (typeof type !== "string" || typeof sessionId !== "string") return;
    const session = sessionIdOf({ sessionId, channel: typeof channel === "string" ? channel : "web" });
    const following = this.#following.get(session);
    // What is not followed is dropped.
    if (!following) return;
    const news = this.#read(type, frame, following);
    if (news) for (const listener of [...following.listeners]) listener(news);
  }

  #changed(change: SessionChange): void {
    for (const listener of [...this.#changeListeners]) listener(change);
  }

  #read(type: string, frame: Record<string, unknown>, following: Following): SessionNews | undefined {
    const seq = typeof frame.seq === "number" ? frame.seq : 0;
    switch (type) {
      case "subscribed":
        following.seq ??= seq;
        return { kind: "subscribed", seq };
      case "unsubscribed":
      case "answer":
        return undefined;
      case "progress":
        return { kind: "progress", progress: frame.progress as Progress };
      case "gone":
        return { kind: "gone" };
      case "problem":
        return { kind: "problem", problem: frame as unknown as ProblemFrame };
      default: {
        if (following.seq !== undefined && seq <= following.seq) return undefined;
        following.seq = seq;
        return { kind: "entry", entry: frame as unknown as EntryFrame };
      }
    }
  }

  #answered(id: string, frame: Record<string, unknown>): void {
    const sending = this.#sending.get(id);
    this.#sending.delete(id);
    const seq = typeof frame.seq === "number" ? frame.seq : 0;
    sending?.resolve(
      frame.type === "answer"
        ? { kind: "answer", answer: frame as unknown as Answer, seq }
        : { kind: "problem", problem: frame as unknown as ProblemFrame },
    );
  }

  #set(change: Partial<ConnectionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const watcher of this.#watchers) watcher();
  }
}

function readChange({ sessionId, channel, kinds }: Record<string, unknown>): SessionChange {
  return {
    session: typeof sessionId === "string" ? sessionIdOf({ sessionId, channel: typeof channel === "string" ? channel : "web" }) : undefined,
    kinds: Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === "string") : [],
  };
}
