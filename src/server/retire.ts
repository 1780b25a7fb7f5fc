import type { Assembled } from "./assemble.js";

/** How long calls to replaced agents may continue. */
const RETIRE_MS = 600_000;
const POLL_MS = 1_000;

/** Replaced hosts: they get no new calls, and are closed when their active calls have ended. */
export class RetiringHosts {
  readonly #hosts = new Map<Assembled, ReturnType<typeof setInterval>>();

  add(host: Assembled, drainMs: number): void {
    host.retire();
    const deadline = Date.now() + RETIRE_MS;
    const timer = setInterval(() => {
      if (host.activeCalls() > 0 && Date.now() < deadline) return;
      this.#remove(host);
      // There is no caller to report to; what did not close ends with the process.
      host.close(drainMs).catch(() => undefined);
    }, POLL_MS);
    timer.unref();
    this.#hosts.set(host, timer);
  }

  async close(drainMs: number): Promise<void> {
    const hosts = [...this.#hosts.keys()];
    for (const host of hosts) this.#remove(host);
    await Promise.all(hosts.map((host) => host.close(drainMs)));
  }

  #remove(host: Assembled): void {
    clearInterval(this.#hosts.get(host));
    this.#hosts.delete(host);
  }
}
