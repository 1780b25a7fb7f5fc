import type { BaseSession } from "./base-session.js";

/** The open sessions of a link or a listener, for its shutdown. */
export class SessionGroup {
  readonly #sessions = new Set<BaseSession>();
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#sessions.size;
  }

  add(session: BaseSession): void {
    this.#sessions.add(session);
  }

  delete(session: BaseSession): void {
    this.#sessions.delete(session);
    if (this.#sessions.size === 0) this.#onEmpty?.();
  }

  /** Closes every session with 1001: now, or when the last call that holds it ends. */
  shutDown(reason: string): void {
    for (const session of this.#sessions) session.shutDown(reason);
  }

  destroy(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** Shuts down, and disconnects what is still open after `drainMs`. */
  async drain(reason: string, drainMs: number): Promise<void> {
    this.shutDown(reason);
    if (this.#sessions.size === 0) return;
    await new Promise<void>((resolve) => {
      const cut = setTimeout(() => this.destroy(), drainMs);
      this.#onEmpty = () => {
        clearTimeout(cut);
        resolve();
      };
    });
  }
}
