import {
  type Bridge,
  bridge,
  connect,
  DiscoveryCache,
  type Loss,
  type RemoteAgent,
  type Server,
  serve,
} from "../../../src/index.js";
import { bearerTokens } from "../../../src/public/auth.js";
import type { Protocol } from "../../../src/public/protocols.js";
import type { PinnedInterface } from "./interfaces.js";
import type { Worker } from "./worker.js";

export const TOKENS = { alice: "alice-token-0123456789", bob: "bob-token-0123456789" } as const;
export type Caller = keyof typeof TOKENS;

/** A gateway with one agent behind it, called in one way. */
export interface BridgedInterface {
  readonly bridge: Bridge;
  /** A caller of the gateway, by one of its ways. The same one whenever it is asked for. */
  caller(listener: PinnedInterface, who?: Caller): Promise<RemoteAgent>;
  /** What the gateway and its callers were told to be lost since they were last asked. */
  takeLosses(): readonly Loss[];
}

/** An agent on real sockets, and a gateway before it for each way to call it. */
export interface Bridges {
  readonly url: string;
  gatewayTo(way: PinnedInterface): Promise<BridgedInterface>;
  close(): Promise<void>;
}

export interface BridgesOptions {
  readonly protocols: readonly Protocol[];
  readonly strict?: boolean;
}

/** Gateways and callers are opened when they are first needed, and kept. */
export async function openBridges(worker: Worker, { protocols, strict = false }: BridgesOptions): Promise<Bridges> {
  const upstream = await serve(worker.agent, { protocols });
  const opened = new Map<string, Promise<OpenInterface>>();
  return {
    url: upstream.url,
    gatewayTo(way) {
      const known = opened.get(way.pin) ?? openInterface(upstream.url, way, protocols, strict);
      opened.set(way.pin, known);
      return known;
    },
    async close() {
      for (const way of await Promise.all(opened.values())) await way.close();
      await upstream.close();
    },
  };
}

interface OpenInterface extends BridgedInterface {
  close(): Promise<void>;
}

async function openInterface(
  url: string,
  way: PinnedInterface,
  protocols: readonly Protocol[],
  strict: boolean,
): Promise<OpenInterface> {
  const bridged = await bridge(url, {
    protocols,
    pin: way.pin,
    discoveryCache: new DiscoveryCache(),
    bridge: { name: "bridged", strict },
  });
  const admission = bearerTokens(new Map(Object.entries(TOKENS)));
  const gateway: Server = await serve(bridged, { protocols, admission });
  const callers = new Map<string, Promise<RemoteAgent>>();
  let told: Loss[] = [];
  let counted = new Map<string, number>();
  return {
    bridge: bridged,
    caller(listener, who = "alice") {
      const key = `${who} ${listener.pin}`;
      const known =
        callers.get(key) ??
        connect(gateway.url, {
          protocols,
          pin: listener.pin,
          discoveryCache: new DiscoveryCache(),
          credentials: { bearer: TOKENS[who] },
          as: who,
          onLoss: (loss) => void told.push(loss),
        });
      callers.set(key, known);
      return known;
    },
    takeLosses() {
      const report = bridged.losses.losses();
      const before = counted;
      counted = new Map(report.map((loss) => [keyOf(loss), loss.count]));
      const taken = [...told, ...report.filter((loss) => loss.count > (before.get(keyOf(loss)) ?? 0))];
      told = [];
      return taken;
    },
    async close() {
      for (const caller of await Promise.all(callers.values())) await caller.close();
      await gateway.close();
      await bridged.close();
    },
  };
}

function keyOf({ protocol, path, reason }: Loss): string {
  return `${protocol} ${path} ${reason}`;
}
