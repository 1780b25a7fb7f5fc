import { recordsBelow } from "../../src/envelope/index.js";
import { type Agent, agent, type ConnectOptions, connect, type RemoteAgent, type ServeOptions, serve } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import { acp } from "../../src/protocols/acp/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { sageOver } from "../../src/protocols/sage/index.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import type { Operation } from "../../src/protocols/sage/registry/registry.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { createMemoryStore, type Store } from "../../src/tasks/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { freePort } from "../anp/directory.js";
import { RefusalLog } from "../helpers/refusal-log.js";
import { newAgent, registrationOf } from "./registries.js";

export const sage = sageOver(a2a);
export const PROTOCOLS = [a2a, sage];
/** SAGE over each of its protocols, as it is registered. */
export const OVER = { a2a, acp, agora } as const;
export const ALL_PROTOCOLS = [a2a, acp, agora, sageOver(a2a, acp, agora)];
/** Records are read for every signature, so that changes take effect at once. */
export const SETTINGS = { sage: { recordMs: 0 } } as const;
/** Messages are signed and not sealed. */
export const UNSEALED = { sage: { recordMs: 0, seal: false } } as const;

/** An embedded registry with the agents of a test, and their servers and connections. */
export class SageWorld {
  readonly store: Store = createMemoryStore({ now: Date.now });
  readonly registry = new EmbeddedRegistry(recordsBelow(this.store.records, "sage"), { network: "local", now: Date.now });
  readonly log = new RefusalLog("sage");
  readonly #closing: (() => Promise<unknown>)[] = [];

  async register(endpoint = "http://127.0.0.1:1"): Promise<LocalIdentity> {
    const identity = await newAgent();
    const account = await accountOf(identity);
    const registration = await registrationOf(identity, this.registry, endpoint);
    const commitment = await this.registry.commitmentOf(account.address, registration);
    await this.registry.submit(account, { kind: "commit", commitment });
    await this.registry.submit(account, registration);
    return identity;
  }

  async submit(identity: LocalIdentity, operation: Operation): Promise<void> {
    await this.registry.submit(await accountOf(identity), operation);
  }

  /** A registered agent, served under its identity. */
  async serve(
    served: Agent = WHO,
    options: ServeOptions = {},
  ): Promise<{ readonly url: string; readonly identity: LocalIdentity }> {
    const port = options.port ?? (await freePort());
    const url = `http://127.0.0.1:${port}`;
    const identity = await this.register(url);
    const server = await serve(served, {
      protocols: PROTOCOLS,
      port,
      identity,
      settings: SETTINGS,
      store: this.store,
      audit: this.log.audit,
      telemetry: this.log.telemetry,
      replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
      ...options,
    });
    this.#closing.push(() => server.close());
    return { url, identity };
  }

  async connect(to: string, identity: LocalIdentity, options: ConnectOptions = {}): Promise<RemoteAgent> {
    const peer = await connect(to, {
      protocols: PROTOCOLS,
      identity,
      records: this.store.records,
      settings: SETTINGS,
      ...options,
    });
    this.#closing.push(() => peer.close());
    return peer;
  }

  /** Ends something with the test, before what was made earlier. */
  closing(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}

/** Says who called. */
export const WHO = agent({
  name: "who",
  description: "says who called",
  handle: (message, task) => `${task.owner}: ${message.text}`,
});
