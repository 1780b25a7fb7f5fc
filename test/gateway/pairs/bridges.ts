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
import { identitiesFor } from "../../helpers/test-identities.js";
import type { PinnedInterface } from "./interfaces.js";
import type { Worker } from "./worker.js";

export const TOKENS = { alice: "alice-token-0123456789", bob: "bob-token-0123456789" } as const;
export type Caller = keyof typeof TOKENS;

/** A gateway with one upstream agent, called over one interface. */
export interface BridgedInterface {
  readonly bridge: Bridge;
  /** A caller of the gateway over one of its interfaces; cached. */
  caller(listener: PinnedInterface, who?: Caller): Promise<RemoteAgent>;
  /** The losses reported by the gateway and its callers since the last call. */
  takeLosses(): readonly Loss[];
}

/** An agent on real sockets, and one gateway per interface of it. */
export interface Bridges {
  readonly url: string;
  gatewayTo(iface: PinnedInterface): Promise<BridgedInterface>;
  close(): Promise<void>;
}

/** All on one machine: a caller that proved more than an upstream can prove is served anyway. */
const OPENINGS = [
  { lowers: ["identity", "signed", "encrypted", "end-to-end"], reason: "one machine", until: "2999-01-01" },
] as const;

export interface BridgesOptions {
  readonly protocols: readonly Protocol[];
  readonly strict?: boolean;
  /** Default: `adopt`. */
  readonly mode?: "adopt" | "relay";
}

/** Gateways and callers are opened on first use, and kept. */
export async function openBridges(worker: Pick<Worker, "agent">, options: BridgesOptions): Promise<Bridges> {
  const { protocols } = options;
  const upstream = await serve(worker.agent, { protocols, ...(await identitiesFor(protocols).server()) });
  const opened = new Map<string, Promise<OpenInterface>>();
  return {
    url: upstream.url,
    gatewayTo(iface) {
      const known = opened.get(iface.pin) ?? openInterface(upstream.url, iface, options);
      opened.set(iface.pin, known);
      return known;
    },
    async close() {
      for (const iface of await Promise.all(opened.values())) await iface.close();
      await upstream.close();
    },
  };
}

interface OpenInterface extends BridgedInterface {
  close(): Promise<void>;
}

async function openInterface(
  url: string,
  iface: PinnedInterface,
  { protocols, strict = false, mode = "adopt" }: BridgesOptions,
): Promise<OpenInterface> {
  const parties = identitiesFor(protocols);
  const bridged = await bridge(url, {
    protocols,
    ...(await parties.caller(iface.protocol)),
    openings: OPENINGS,
    pin: iface.pin,
    discoveryCache: new DiscoveryCache(),
    bridge: { name: "bridged", strict, mode },
  });
  const admission = bearerTokens(new Map(Object.entries(TOKENS)));
  const gateway: Server = await serve(bridged, { protocols, admission, ...(await parties.server()) });
  const callers = new Map<string, Promise<RemoteAgent>>();
  let losses: Loss[] = [];
  let counted = new Map<string, number>();
  return {
    bridge: bridged,
    caller(listener, who = "alice") {
      const key = `${who} ${listener.pin}`;
      const known =
        callers.get(key) ??
        parties.caller(listener.protocol).then((party) =>
          connect(gateway.url, {
            protocols,
            ...party,
            pin: listener.pin,
            discoveryCache: new DiscoveryCache(),
            credentials: { bearer: TOKENS[who] },
            as: who,
            onLoss: (loss) => void losses.push(loss),
          }),
        );
      callers.set(key, known);
      return known;
    },
    takeLosses() {
      const report = bridged.losses.losses();
      const before = counted;
      counted = new Map(report.map((loss) => [keyOf(loss), loss.count]));
      const taken = [...losses, ...report.filter((loss) => loss.count > (before.get(keyOf(loss)) ?? 0))];
      losses = [];
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
