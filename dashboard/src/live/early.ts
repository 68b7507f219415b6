import type { SocketLike } from "./connection";

/** What `scripts/early.js` began before the scripts of the page were there. A page of the development server has none. */
interface Early {
  socket: WebSocket;
  frames: string[];
  /** By the path that was asked for. They were asked for after the server began to tell of changes. */
  answers: Map<string, Promise<Response>>;
}

declare global {
  interface Window {
    planwrightEarly?: Early;
  }
}

/** How long an answer counts as one to a request that comes later, in milliseconds. */
const MAX_AGE_MS = 5_000;

/** The answer to a request that was sent already; each is given once. */
export function takeEarlyAnswer(path: string): Promise<Response> | undefined {
  const answers = window.planwrightEarly?.answers;
  const found = answers?.get(path);
  answers?.delete(path);
  return found;
}

/** The connection that was opened already, with what it told so far. Nothing if there is none, or if it was refused. */
export function takeEarlySocket(): SocketLike | undefined {
  const early = window.planwrightEarly;
  if (early === undefined || early.socket.readyState > WebSocket.OPEN) return undefined;
  const { socket, frames, answers } = early;
  setTimeout(() => answers.clear(), MAX_AGE_MS);
  window.planwrightEarly = { ...early, frames: [] };
  return new AdoptedSocket(socket, frames, () => answers.clear());
}

/** Frames that came before there was anyone to hear them are heard now, each in a task of its own, as they would have been. */
class AdoptedSocket implements SocketLike {
  onopen: SocketLike["onopen"] = null;
  onmessage: SocketLike["onmessage"] = null;
  onclose: SocketLike["onclose"] = null;
  #isTold = false;

  constructor(
    private readonly socket: WebSocket,
    waiting: unknown[],
    onChanged: () => void,
  ) {
    const deliver = () => {
      const [data] = waiting.splice(0, 1);
      if (data === undefined) return;
      this.onmessage?.({ data });
      if (waiting.length > 0) setTimeout(deliver);
    };
    const begin = () => {
      this.onopen?.(undefined as never);
      deliver();
    };
    if (socket.readyState === WebSocket.OPEN) setTimeout(begin);
    else
      socket.onopen = () => {
        socket.send(WATCH);
        begin();
      };
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      // What was asked before this may be old now.
      if (typeof data === "string" && data.includes('"changed"')) onChanged();
      if (waiting.length > 0 || !this.onmessage) waiting.push(data);
      else this.onmessage({ data });
    };
    socket.onclose = (event) => this.onclose?.(event);
  }

  get readyState(): number {
    return this.socket.readyState;
  }

  send(text: string): void {
    // It watches already.
    if (text === WATCH && !this.#isTold) {
      this.#isTold = true;
      return;
    }
    this.socket.send(text);
  }

  close(): void {
    this.socket.close();
  }
}

const WATCH = JSON.stringify({ type: "watch" });
