import type { Assembled } from "./assemble.js";

/** How long calls to agents that were replaced may go on. */
const RETIRE_MS = 600_000;
const LOOK_EVERY_MS = 1_000;

/** Hosts that get no new calls, and are closed when those they have are over. */
export class RetiringHosts {
  readonly #hosts = new Map<Assembled, ReturnType<typeof setInterval>>();

  add(host: Assembled, drainMs: number): void {
    const until = Date.now() + RETIRE_MS;
    const timer = setInterval(() => {
      if (host.underWay() > 0 && Date.now() < until) return;
      this.#forget(host);
      // Nobody is left to be told; what did not end by itself ends with the process.
      host.close(drainMs).catch(() => undefined);
    }, LOOK_EVERY_MS);
    timer.unref();
    this.#hosts.set(host, timer);
  }

  async close(drainMs: number): Promise<void> {
    const hosts = [...this.#hosts.keys()];
    for (const host of hosts) this.#forget(host);
    await Promise.all(hosts.map((host) => host.close(drainMs)));
  }

  #forget(host: Assembled): void {
    clearInterval(this.#hosts.get(host));
    this.#hosts.delete(host);
  }
}
