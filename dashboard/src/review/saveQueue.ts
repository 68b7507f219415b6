/**
 * Saves one after the other, so that the last one that was asked for is the last one that arrives. Of those that wait only the
 * newest is sent: each replaces the ones before.
 */
export class SaveQueue {
  #running = false;
  #next: { send: () => Promise<unknown>; done: (isSaved: boolean) => void } | undefined;

  add(send: () => Promise<unknown>, done: (isSaved: boolean) => void): void {
    this.#next = { send, done };
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#next) {
      const { send, done } = this.#next;
      this.#next = undefined;
      const isSaved = await send().then(
        () => true,
        () => false,
      );
      // What came meanwhile replaces it.
      if (this.#next === undefined) done(isSaved);
    }
    this.#running = false;
  }
}
