import { AgentError, type Card, type Loss, type Maybe, type Operation } from "../envelope/index.js";
import {
  type AdoptParts,
  adopting,
  type CardPolicy,
  cancelAdopted,
  cardInFront,
  LossAccount,
  type LossReport,
  relaying,
  type Upstream,
} from "../gateway/index.js";
import { type Clock, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { Ids } from "../protocols/protocol.js";
import { createVeil } from "../security/index.js";
import { type Agent, agent } from "./agent.js";
import { connect, type RemoteAgent } from "./connect.js";
import { systemIds } from "./ids.js";
import type { ConnectOptions } from "./reach.js";

/** How a peer stands behind a gateway. */
export interface BridgeSettings {
  /** What the gateway calls it; part of addresses. Default: made from the name on its card. */
  readonly name?: Maybe<string>;
  /**
   * `adopt`: the gateway owns the tasks; ids, sessions and keys of callers never reach the peer. `relay`: everything passes
   * unchanged, for one trust domain. Default: `adopt`.
   */
  readonly mode?: Maybe<"adopt" | "relay">;
  /** What the peer cannot do is refused instead of being stood in for. */
  readonly strict?: Maybe<boolean>;
  /** Default: signed anew where the gateway has keys, else without signatures. */
  readonly card?: Maybe<CardPolicy>;
  /** What names are veiled with, at least 16 bytes, the same for all gateways over one store. Default: made at start. */
  readonly secret?: Maybe<Uint8Array>;
  /** The gateway signs its cards. */
  readonly signsCards?: Maybe<boolean>;
  /** The address callers use for the gateway, where it is fixed. */
  readonly publicUrl?: Maybe<string>;
  readonly clock?: Maybe<Clock>;
  readonly ids?: Maybe<Ids>;
  readonly random?: Maybe<() => number>;
}

export interface BridgeOptions extends ConnectOptions {
  readonly as?: string;
  readonly bridge?: BridgeSettings;
}

/** A peer as an agent of ours: `serve` puts it on every protocol. */
export interface BridgedAgent extends Agent {
  /** What could not be carried so far. */
  readonly losses: LossReport;
  /** What an operator should know: a signature that was taken off, for example. */
  readonly notes: readonly string[];
}

/** A peer that was called by its URL. */
export interface Bridge extends BridgedAgent {
  readonly upstream: RemoteAgent;
  /** Lets go of the peer. After the server. */
  close(): Promise<void>;
}

/** Finds out what an address speaks, and makes an agent of it that can be served in every other protocol. */
export async function bridge(url: string, { bridge: settings = {}, ...options }: BridgeOptions = {}): Promise<Bridge> {
  const upstream = await connect(url, options);
  const known = options.protocols ?? registered;
  try {
    const traits = () => {
      const spoken = known.find(({ id }) => id === upstream.protocol);
      if (spoken === undefined) throw new AgentError("internal", `${upstream.protocol} is spoken and not known`);
      return spoken.traits;
    };
    const bridged = bridgedAgent(
      { handler: upstream.handler, protocol: () => upstream.protocol, traits, card: () => upstream.card },
      { signed: upstream.cardTrust !== "unsigned", behind: [url, ...upstream.ways.map((way) => way.url)] },
      { ...settings, clock: settings.clock ?? options.clock, ids: settings.ids ?? options.ids },
    );
    return Object.assign(bridged, { upstream, close: () => upstream.close() });
  } catch (thrown) {
    await upstream.close();
    throw thrown;
  }
}

/** What is known of the peer beside its handler. */
export interface BridgeFacts {
  /** Its card has signatures. */
  readonly signed: boolean;
  /** Its addresses. */
  readonly behind: readonly string[];
}

/** Whatever can be called, as an agent of ours: several peers behind a switchboard, for example. */
export function bridgedAgent(upstream: Upstream, { signed, behind }: BridgeFacts, settings: BridgeSettings): BridgedAgent {
  const { mode = "adopt", strict = false, signsCards = false, publicUrl } = settings;
  const name = settings.name ?? nameFrom(upstream.card().name);
  const policy = settings.card ?? (signsCards ? "rewrite+resign" : "rewrite+strip");
  const account = new LossAccount();
  const facts = { name, policy, signed, canSign: signsCards, publicUrl, adopted: mode === "adopt" };
  const shown = (card: Card): Card => cardInFront(card, facts).card;
  const { card, downgrade } = cardInFront(upstream.card(), facts);
  const parts: AdoptParts = {
    upstream,
    veil: createVeil(name, settings.secret),
    strict,
    lose: (loss) => account.add(loss),
    ids: settings.ids ?? systemIds,
    clock: settings.clock ?? systemClock,
    random: settings.random ?? Math.random,
  };
  const relayed = relaying(upstream, shown);
  const made = agent({ name, description: card.description, handle: adopting(parts) });
  return {
    ...made,
    card,
    restartable: true,
    hasExtendedCard: card.capabilities.extended,
    losses: account,
    notes: downgrade === undefined ? [] : [downgrade],
    behind,
    lost: (loss: Loss) => account.add(loss),
    cancel: cancelAdopted(parts),
    answers(operation: Operation, call) {
      if (operation.kind === "send") account.messages++;
      if (mode === "relay" || (operation.kind === "card" && operation.extended)) return relayed(operation, call);
      return undefined;
    },
  };
}

/** A name on a card is for people; one in an address has fewer letters. */
export function nameFrom(title: string): string {
  const name = title
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 64)
    .toLowerCase();
  return name === "" ? "agent" : name;
}
