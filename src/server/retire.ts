import type { Assembled } from "./assemble.js";

/** How long calls to replaced agents may continue. */
const RETIRE_MS = 600_000;
const POLL_MS = 1_000;

interface Retiring {
  /** Resolves when the host is closed. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Replaced hosts: they get no new calls, and are closed when their active calls have ended. */
export class RetiringHosts {
  readonly #hosts = new Map<Assembled, Retiring>();

  add(host: Assembled, drainMs: number): void {
    host.retire();
    const deadline = Date.now() + RETIRE_MS;
    let settle: (closing: Promise<void>) => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const close = (): void => {
      clearInterval(timer);
      // There is no caller to report to; what did not close ends with the process.
      settle(host.close(drainMs).catch(() => undefined));
    };
    const timer = setInterval(() => {
      if (host.activeCalls() === 0 || Date.now() >= deadline) close();
    }, POLL_MS);
    timer.unref();
    this.#hosts.set(host, { closed, close });
    void closed.then(() => this.#hosts.delete(host));
  }

  /** Resolves when every host that was added so far is closed. */
  async allClosed(): Promise<void> {
    await Promise.all(Array.from(this.#hosts.values(), ({ closed }) => closed));
  }

  async close(): Promise<void> {
    for (const { close } of this.#hosts.values()) close();
    await this.allClosed();
  }
}
