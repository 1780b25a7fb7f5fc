import { AgentError, type Credentials, connect, DiscoveryCache, type RemoteAgent } from "../../src/index.js";
import type { Identity } from "../../src/public/identity.js";
import type { PlanSettings } from "./plan-schema.js";

export interface PingTarget {
  readonly url: string;
  /** The planned interface. */
  readonly pin: string;
  readonly pingMs: number;
  /** Protocol settings, by protocol id. */
  readonly settings: PlanSettings;
  /** A path that must respond before the first ping. */
  readonly path?: string | undefined;
  /** Who pings, if the agent knows its callers by their DIDs. */
  identity(): Promise<Identity | undefined>;
  credentials(): Promise<Credentials>;
}

/** Checks the health of an agent in its own protocol. */
export class Pinger {
  readonly #target: PingTarget;
  #peer: RemoteAgent | undefined;

  constructor(target: PingTarget) {
    this.#target = target;
  }

  /** Undefined on success, otherwise the problem. */
  async ping(): Promise<string | undefined> {
    const { url, pin, pingMs, path, settings } = this.#target;
    try {
      if (this.#peer === undefined) {
        if (path !== undefined) await checkPath(url + path, pingMs);
        // A separate cache: results for an earlier process at this address do not apply.
        const credentials = await this.#target.credentials();
        const identity = await this.#target.identity();
        const known = identity === undefined ? {} : { identity };
        const options = { pin, credentials, settings, timeoutMs: pingMs, discoverMs: pingMs, ...known };
        this.#peer = await connect(url, { ...options, discoveryCache: new DiscoveryCache() });
      }
      if (await this.#peer.health()) return undefined;
      await this.disconnect();
      return "does not respond to a ping";
    } catch (thrown) {
      await this.disconnect();
      return thrown instanceof AgentError ? thrown.message : String(thrown);
    }
  }

  /** The next ping reconnects. */
  async disconnect(): Promise<void> {
    const peer = this.#peer;
    this.#peer = undefined;
    await peer?.close();
  }
}

async function checkPath(address: string, withinMs: number): Promise<void> {
  const response = await fetch(address, { signal: AbortSignal.timeout(withinMs) });
  await response.body?.cancel();
  if (!response.ok) throw new AgentError("unavailable", `${address} responds with ${response.status}`);
}
