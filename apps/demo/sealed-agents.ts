import { join } from "node:path";
import {
  AgentError,
  agent,
  type ConnectOptions,
  type JsonObject,
  type Maybe,
  type Server,
  type Store,
  serve,
} from "../../src/index.js";
import { DEFAULT_LIMITS } from "../../src/internal.js";
import { type AuditSink, createReplayGuard } from "../../src/public/auth.js";
import { type Identity, openIdentity } from "../../src/public/identity.js";
import { protocols } from "../../src/public/protocols.js";
import { recordsBelow } from "../../src/public/stores.js";
import { AlteringProxy, type FlippedByte } from "./altering-proxy.js";

/** Their protocol. */
export const SEALED_PROTOCOL = "sage";
export const VAULT = "vault";
export const INSURER = "insurer";

/** What every message between them has. */
const FLOOR = ["signed", "end-to-end"] as const;

/** What `SealedAgents.open` needs. */
export interface SealedAgentsOptions {
  /** For the identity files. */
  readonly folder: string;
  /** Has the embedded registry; the gateway reads it, too. */
  readonly store: Store;
  readonly gatewayPort: number;
  nextPort(): Promise<number>;
}

/** A message that was changed on its way, and what became of it. */
export interface RefusedMessage {
  readonly byte: FlippedByte;
  /** The audit log of the vault. */
  readonly reason: string;
  /** What the insurer was told. */
  readonly told: string;
}

/**
 * Two agents that prove who they are by a registry and seal what they say for each other: the insurer calls the vault through the gateway,
 * which passes on what it cannot read. Between gateway and vault is a proxy that can change a byte.
 */
export class SealedAgents {
  /** Where their records are, for people. */
  readonly registry: string;
  readonly gatewayFile: string;
  readonly vaultDid: string;
  readonly insurerDid: string;
  readonly #settings: JsonObject;
  readonly #gatewayDid: string;
  readonly #insurer: Identity;
  readonly #store: Store;
  readonly #proxy: AlteringProxy;
  readonly #server: Server;
  readonly #refusals: Refusals;

  private constructor(parts: Opened) {
    const { settings, vault, insurer, gateway, store, proxy, server, refusals, gatewayFile } = parts;
    this.registry =
      settings["rpc"] === undefined ? "the embedded registry" : `the registry on the chain at ${String(settings["rpc"])}`;
    this.gatewayFile = gatewayFile;
    this.vaultDid = vault.did;
    this.insurerDid = insurer.did;
    this.#settings = settings;
    this.#gatewayDid = gateway.did;
    this.#insurer = insurer;
    this.#store = store;
    this.#proxy = proxy;
    this.#server = server;
    this.#refusals = refusals;
  }

  static async open({ folder, store, gatewayPort, nextPort }: SealedAgentsOptions): Promise<SealedAgents> {
    const protocol = protocols.find(({ id }) => id === SEALED_PROTOCOL);
    const { createIdentity, localSettings } = protocol ?? {};
    if (createIdentity == null) throw new AgentError("internal", `${SEALED_PROTOCOL} makes no identities`);
    const settings: JsonObject = (await localSettings?.()) ?? {};
    const records = recordsBelow(store.records, SEALED_PROTOCOL);
    const identified = async (name: string, endpoint: string): Promise<Identity> => {
      const file = join(folder, `${name}-${SEALED_PROTOCOL}.json`);
      await createIdentity(file, { endpoint, records, settings });
      return openIdentity(file);
    };
    const [proxyPort, vaultPort] = [await nextPort(), await nextPort()];
    const proxy = await AlteringProxy.open(proxyPort, vaultPort);
    try {
      // One after the other: a registry records one operation at a time.
      const vault = await identified(VAULT, proxy.url);
      const insurer = await identified(INSURER, "");
      const gateway = await identified("gateway", `http://127.0.0.1:${gatewayPort}`);
      const refusals: Refusals = { next: undefined };
      const server = await serveVault({ vault, gateway, settings, store, port: vaultPort, publicUrl: proxy.url }, refusals);
      const gatewayFile = join(folder, `gateway-${SEALED_PROTOCOL}.json`);
      return new SealedAgents({ settings, vault, insurer, gateway, gatewayFile, store, proxy, server, refusals });
    } catch (thrown) {
      await proxy.close();
      throw thrown;
    }
  }

  /** The vault as an agent of the gateway. */
  get upstream() {
    return { name: VAULT, upstream: this.vaultDid, pin: SEALED_PROTOCOL, identity: this.gatewayFile };
  }

  /** The settings of the gateway: it passes on what is not for itself. */
  get gatewaySettings(): { readonly [protocol: string]: JsonObject } {
    return { [SEALED_PROTOCOL]: { ...this.#settings, passOn: true } };
  }

  /** How the insurer is connected with the vault through the gateway. */
  get connectOptions(): ConnectOptions {
    const own = { ...this.#settings, peer: this.vaultDid, gateway: this.#gatewayDid };
    return {
      ...{ identity: this.#insurer, records: this.#store.records, require: FLOOR },
      settings: { [SEALED_PROTOCOL]: own },
    };
  }

  /** Changes one byte of what `send` sends once it has called `begin`, and returns how it was refused. */
  async flip(send: (begin: () => void) => Promise<unknown>): Promise<RefusedMessage> {
    let byte: Maybe<FlippedByte>;
    let reason: Maybe<string>;
    let takeBack = (): void => undefined;
    const begin = (): void => {
      takeBack = this.#proxy.flipNext((flipped) => {
        byte = flipped;
        this.#refusals.next = (why) => {
          reason ??= why;
        };
      });
    };
    const told = await send(begin).then(
      () => undefined,
      (thrown: unknown) => AgentError.from(thrown).message,
    );
    takeBack();
    this.#refusals.next = undefined;
    if (byte === undefined) throw new AgentError("unavailable", `No sealed message passed: ${told ?? "nothing was sent"}`);
    if (told === undefined || reason === undefined) throw new AgentError("internal", "The changed message was accepted");
    return { byte, reason, told };
  }

  async close(): Promise<void> {
    await this.#server.close();
    await this.#proxy.close();
  }
}

interface Opened {
  readonly settings: JsonObject;
  readonly vault: Identity;
  readonly insurer: Identity;
  readonly gateway: Identity;
  readonly gatewayFile: string;
  readonly store: Store;
  readonly proxy: AlteringProxy;
  readonly server: Server;
  readonly refusals: Refusals;
}

/** Who is waiting for a refusal of the vault. */
interface Refusals {
  next: Maybe<(reason: string) => void>;
}

interface VaultOptions extends Pick<Opened, "vault" | "gateway" | "settings" | "store"> {
  readonly port: number;
  readonly publicUrl: string;
}

function serveVault({ vault, gateway, settings, store, port, publicUrl }: VaultOptions, refusals: Refusals): Promise<Server> {
  const served = agent({
    name: VAULT,
    description: "Keeps policies that only the insurer may read",
    handle: (message) => `Kept: ${message.text}`,
  });
  const audit: AuditSink = {
    record: ({ event, reason }) => event === "refused" && refusals.next?.(reason ?? "for no reason"),
    close: async () => undefined,
  };
  // Its identity is new: nobody before it can have accepted a message for it.
  const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
  const own = { ...settings, relays: gateway.did };
  return serve(served, { port, publicUrl, identity: vault, store, replay, audit, settings: { [SEALED_PROTOCOL]: own } });
}
