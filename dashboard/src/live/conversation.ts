import { newId } from "../api/newId";
import { NoAnswer, request } from "../api/client";
import { fetchSession } from "../api/queries";
import type { Answer, MessagePage } from "../api/types";
import { sessionQuery, type SessionId } from "../session/id";
import type { Connection } from "./connection";
import type { ProblemFrame, SessionNews } from "./frames";
import { LiveTracker, type LiveTurn } from "./liveTurn";
import { emptyReading, joinPage, takeIn, type ChatMessage, type Reading } from "./messages";

/** Something the person typed that is not in the journal yet, or never will be. */
export interface Outgoing {
  key: string;
  text: string;
  at: string;
  /** The newest entry when it was sent: where it stands in the conversation. */
  afterSeq: number;
  state: "sending" | "answered" | "refused";
  answer: Answer | undefined;
  problem: ProblemFrame | undefined;
}

export interface ConversationState {
  status: "loading" | "ready" | "failed" | "gone";
  error: unknown;
  messages: ChatMessage[];
  /** Where the page of older messages ends; `null` if there is none. */
  older: number | null;
  loadingOlder: boolean;
  outgoing: Outgoing[];
  working: boolean;
  head: number;
}

const PAGE = 64;
/** How many entries before the newest are read again, so that the turn under way is known from its beginning. */
const BEHIND = 60;
/** The wait before a conversation is asked for again that the server did not answer for, in milliseconds. */
const RETRY_WAIT = 2_000;

/** One session's conversation. Nothing of another session ever gets into it: every input names its session. */
export class Conversation {
  #state: ConversationState = {
    status: "loading",
    error: undefined,
    messages: [],
    older: null,
    loadingOlder: false,
    outgoing: [],
    working: false,
    head: 0,
  };
  #reading: Reading = emptyReading();
  #tracker = new LiveTracker();
  #live: LiveTurn | undefined;
  #listeners = new Set<() => void>();
  #leave: (() => void) | undefined;
  #notifying = false;
  /** Counts how often a component subscribed or unsubscribed. */
  #visit = 0;
  #subscriptions = 0;
  /** The newest entry when it was read first. What is told up to there is in every answer that is read after it. */
  #readUpTo = 0;
  #rereading: ReturnType<typeof setTimeout> | undefined;
  #retrying: ReturnType<typeof setTimeout> | undefined;
  #onNews = new Set<(news: SessionNews) => void>();

  constructor(
    readonly session: SessionId,
    private readonly connection: Connection,
    /** When the screen is drawn next. Many frames that arrive before it are drawn once. */
    private readonly soon: (draw: () => void) => void = (draw) => requestAnimationFrame(draw),
  ) {}

  get state(): ConversationState {
    return this.#state;
  }

  /**
   * What the agent does now. It changes with every piece of streamed text and is apart from the state, so that a piece of
   * text draws one row and not the page.
   */
  get live(): LiveTurn | undefined {
    return this.#live;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  onNews(listener: (news: SessionNews) => void): () => void {
    this.#onNews.add(listener);
    return () => this.#onNews.delete(listener);
  }

  /** Follows the session until the returned function is called. What was read stays. */
  enter(): () => void {
    const visit = (this.#visit += 1);
    void this.#load(visit);
    const quiet = this.connection.watch(() => this.#retryWhenConnected());
    return () => {
      this.#visit += 1;
      quiet();
      clearTimeout(this.#retrying);
      this.#leave?.();
      this.#leave = undefined;
      clearTimeout(this.#rereading);
    };
  }

  /** Does nothing more once the person has left. */
  async #load(visit: number): Promise<void> {
    try {
      const session = await fetchSession(this.session);
      if (visit !== this.#visit) return;
      const known = this.#reading.head;
      if (known === 0) this.#readUpTo = session.seq;
      const after = known > 0 ? known : Math.max(0, session.seq - BEHIND);
      if (!session.working) this.#tracker.clear();
      this.#set({ working: session.working });
      this.#leave?.();
      this.#leave = this.connection.follow(this.session, (news) => this.#hear(news), after);
      await this.#readNewest();
      this.#set({ status: "ready", error: undefined });
    } catch (error) {
      if (visit !== this.#visit) return;
      this.#set(this.#state.status === "ready" ? { error } : { status: "failed", error });
      this.#retryWhenConnected();
    }
  }

  /** What got no answer is asked again by itself while there is a connection, and when there is one again. */
  #retryWhenConnected(): void {
    const { status, error } = this.#state;
    if (status !== "failed" || !(error instanceof NoAnswer) || this.connection.state.phase !== "open") return;
    clearTimeout(this.#retrying);
    this.#retrying = setTimeout(() => this.retry(), RETRY_WAIT);
  }

  retry(): void {
    clearTimeout(this.#retrying);
    this.#set({ status: "loading", error: undefined });
    void this.#load(this.#visit);
  }

  async #readNewest(): Promise<void> {
    const page = await this.#page(undefined);
    const isFirst = this.#state.messages.length === 0 || this.#state.status === "loading";
    this.#reading = joinPage(this.#reading, page.messages);
    this.#set({ messages: this.#reading.messages, ...(isFirst ? { older: page.next } : {}) });
  }

  #page(before: number | undefined): Promise<MessagePage> {
    const { sessionId, channel } = sessionQuery(this.session);
    return request<MessagePage>("GET", `/api/sessions/${encodeURIComponent(sessionId)}/messages`, {
      query: { channel, before, limit: PAGE },
    });
  }

  async loadOlder(): Promise<void> {
    const before = this.#state.older;
    if (before === null || this.#state.loadingOlder) return;
    this.#set({ loadingOlder: true });
    try {
      const page = await this.#page(before);
      this.#reading = joinPage(this.#reading, page.messages);
      this.#set({ messages: this.#reading.messages, older: page.next, loadingOlder: false });
    } catch (error) {
      this.#set({ loadingOlder: false, error });
    }
  }

  /** Sends what was typed. While the agent works it waits in the session's queue, in plain sight. */
  async send(text: string): Promise<Answer | undefined> {
    const key = newId();
    const outgoing: Outgoing = {
      key,
      text,
      at: new Date().toISOString(),
      afterSeq: Math.max(this.#reading.head, this.#state.messages.at(-1)?.seq ?? 0),
      state: "sending",
      answer: undefined,
      problem: undefined,
    };
    this.#set({ outgoing: [...this.#state.outgoing, outgoing] });
    const outcome = await this.connection.sendMessage(this.session, text, key);
    if (outcome.kind === "problem") {
      this.#changeOutgoing(key, { state: "refused", problem: outcome.problem });
      return undefined;
    }
    const isCommand = text.startsWith("/");
    if (isCommand) this.#changeOutgoing(key, { state: "answered", answer: outcome.answer });
    else this.#set({ outgoing: this.#state.outgoing.filter((other) => other.key !== key) });
    return outcome.answer;
  }

  dismiss(key: string): void {
    this.#set({ outgoing: this.#state.outgoing.filter((other) => other.key !== key) });
  }

  #changeOutgoing(key: string, change: Partial<Outgoing>): void {
    this.#set({ outgoing: this.#state.outgoing.map((one) => (one.key === key ? { ...one, ...change } : one)) });
  }

  #hear(news: SessionNews): void {
    const isKnown = news.kind === "entry" && news.entry.seq <= this.#readUpTo;
    switch (news.kind) {
      case "entry": {
        const { reading, known } = takeIn(this.#reading, news.entry);
        this.#reading = reading;
        this.#afterEntry(news.entry.type, news.entry.event);
        this.#set({ messages: reading.messages, head: reading.head });
        if (!known && !isKnown) this.#rereadSoon();
        break;
      }
      case "progress":
        this.#tracker.progress(news.progress);
        this.#set({ working: this.#state.working || this.#tracker.live !== undefined });
        break;
      case "gone":
        this.#tracker.clear();
        this.#set({ status: "gone", working: false });
        break;
      case "problem":
        this.#set({ error: news.problem });
        break;
      case "subscribed":
        // The first one follows what was just read; a later one, a broken connection.
        if ((this.#subscriptions += 1) > 1) void this.#lookAgain();
        break;
    }
    if (!isKnown) for (const listener of this.#onNews) listener(news);
  }

  #afterEntry(type: string, event: Record<string, unknown>): void {
    this.#tracker.entry(type, event);
    switch (type) {
      case "turn_begun": {
        this.#set({ working: true });
        // The journal has it now.
        const sent = this.#state.outgoing.find((one) => one.state === "sending" && one.text.trim() === String(event.text).trim());
        if (sent) this.#set({ outgoing: this.#state.outgoing.filter((one) => one !== sent) });
        break;
      }
      case "turn_ended":
      case "execution_paused":
      case "execution_finished":
        this.#set({ working: this.#tracker.live !== undefined });
        break;
      case "step_begun":
        this.#set({ working: true });
        break;
    }
  }

  /** What was under way may have ended while nothing was heard. */
  async #lookAgain(): Promise<void> {
    try {
      const { working } = await fetchSession(this.session);
      if (!working) this.#tracker.clear();
      this.#set({ working });
    } catch {
      // The next event says more.
    }
  }

  #rereadSoon(): void {
    clearTimeout(this.#rereading);
    this.#rereading = setTimeout(() => {
      void this.#readNewest().catch((error: unknown) => this.#set({ error }));
    }, 150);
  }

  /** Takes a change of the state, and what the agent does now. Nothing is drawn where nothing changed. */
  #set(change: Partial<ConversationState>): void {
    const names = Object.keys(change) as (keyof ConversationState)[];
    const isSame = names.every((name) => this.#state[name] === change[name]);
    if (isSame && this.#live === this.#tracker.live) return;
    if (!isSame) this.#state = { ...this.#state, ...change };
    this.#live = this.#tracker.live;
    if (this.#notifying) return;
    this.#notifying = true;
    this.soon(() => {
      this.#notifying = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
