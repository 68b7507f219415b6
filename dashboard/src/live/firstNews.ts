import type { Connection } from "./connection";

/** How long the first requests of a page wait for the connection, in milliseconds. On a slow network they do not wait. */
const MAX_WAIT = 200;

/**
 * What is asked before the server tells of changes has to be asked again afterwards. So the first requests of a page wait a moment
 * for `watching`, and what comes after it is asked once.
 */
export class FirstNews {
  /** Ends when the requests may begin. */
  readonly awaited: Promise<void>;
  #isNow = false;

  constructor(connection: Pick<Connection, "onChange" | "watch" | "state">) {
    this.awaited = new Promise((resolve) => {
      let isWaiting = true;
      const end = () => {
        isWaiting = false;
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(end, MAX_WAIT);
      // It is never taken back: the server is told once, whatever page comes and goes.
      connection.onChange(({ session }) => {
        if (session !== undefined || !isWaiting) return;
        end();
        this.#isNow = true;
        queueMicrotask(() => (this.#isNow = false));
      });
      connection.watch(() => {
        if (connection.state.phase === "waiting" || connection.state.phase === "stopped") end();
      });
    });
  }

  /** Whether the change that is told of now is the first one, before which nothing was asked. */
  get isNow(): boolean {
    return this.#isNow;
  }
}
