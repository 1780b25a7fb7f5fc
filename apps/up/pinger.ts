import { AgentError, type Credentials, connect, DiscoveryCache, type RemoteAgent } from "../../src/index.js";

export interface PingTarget {
  readonly url: string;
  /** By which protocol it is asked: the one the plan gives it. */
  readonly pin: string;
  readonly pingMs: number;
  /** A path that has to answer before anything else is asked. */
  readonly path?: string | undefined;
  credentials(): Promise<Credentials>;
}

/** Asks an agent, in its own protocol, whether it is there. */
export class Pinger {
  readonly #target: PingTarget;
  #peer: RemoteAgent | undefined;

  constructor(target: PingTarget) {
    this.#target = target;
  }

  /** Undefined after a real answer, else what is wrong. */
  async ping(): Promise<string | undefined> {
    const { url, pin, pingMs, path } = this.#target;
    try {
      if (this.#peer === undefined) {
        if (path !== undefined) await checkPath(url + path, pingMs);
        // What was found out about an earlier process at this address says nothing about this one.
        const options = { pin, credentials: await this.#target.credentials(), timeoutMs: pingMs, discoverMs: pingMs };
        this.#peer = await connect(url, { ...options, discoveryCache: new DiscoveryCache() });
      }
      if (await this.#peer.health()) return undefined;
      await this.forget();
      return "does not answer a ping";
    } catch (thrown) {
      await this.forget();
      return thrown instanceof AgentError ? thrown.message : String(thrown);
    }
  }

  /** The next ping connects anew. */
  async forget(): Promise<void> {
    const peer = this.#peer;
    this.#peer = undefined;
    await peer?.close();
  }
}

async function checkPath(address: string, withinMs: number): Promise<void> {
  const response = await fetch(address, { signal: AbortSignal.timeout(withinMs) });
  await response.body?.cancel();
  if (!response.ok) throw new AgentError("unavailable", `${address} answers ${response.status}`);
}
