import { connect, type RemoteAgent } from "../client/connect.js";
import type { ConnectOptions } from "../client/resolve-peer.js";
import { AgentError, type Call, type Card, type Loss, type Maybe, type Operation, systemIds } from "../envelope/index.js";
import { type Clock, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { IdSource } from "../protocols/protocol.js";
import { createPseudonymizer, newSecret } from "../security/index.js";
import { type Agent, agent } from "../server/agent.js";
import { adoptTasks } from "./adopt.js";
import type { AdoptParts } from "./adopt-parts.js";
import { cancelAdopted, closeAdopted } from "./adopted-work.js";
import { bridgedCard, type CardPolicy } from "./card-policy.js";
import { emulationMarks, emulationRefused } from "./emulation.js";
import { LossAccount, type LossReport } from "./loss-report.js";
import { relayTasks } from "./relaying.js";
import type { Upstream } from "./upstream.js";
import { UpstreamAddressRewriter } from "./upstream-address.js";
import { type CallerSharing, type SharedCallers, sharingCallers } from "./upstream-credentials.js";
import { credentialSeal } from "./upstream-credentials-seal.js";

/** How a peer stands behind a gateway. */
export interface BridgeSettings extends CallerSharing {
  /** What the gateway calls it; part of addresses. Default: made from the name on its card. */
  readonly name?: Maybe<string>;
  /**
   * `adopt`: the gateway owns the tasks; ids, sessions and keys of callers never reach the peer. `relay`: everything passes
   * unchanged, for one trust domain. Default: `adopt`.
   */
  readonly mode?: Maybe<"adopt" | "relay">;
  /** What the peer cannot do is refused instead of being stood in for. */
  readonly strict?: Maybe<boolean>;
  /**
   * Default: signed anew where the gateway has keys, else without signatures. With `verbatim` the peer answers at the same paths
   * below its own address as its card names below `publicUrl`.
   */
  readonly card?: Maybe<CardPolicy>;
  /**
   * What names are veiled and kept credentials sealed with, at least 16 bytes, the same for all gateways over one store.
   * Default: made at start.
   */
  readonly secret?: Maybe<Uint8Array>;
  /** The gateway signs its cards. */
  readonly signsCards?: Maybe<boolean>;
  /** The address callers use for the gateway, where it is fixed. */
  readonly publicUrl?: Maybe<string>;
  readonly clock?: Maybe<Clock>;
  readonly ids?: Maybe<IdSource>;
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
  const inward = inwardOf(url, settings);
  const shared = sharingCallers(url, inward?.options(url, options) ?? options, settings);
  const upstream = await connect(url, shared.options).catch(async (thrown: unknown) => {
    if (options.link === undefined) await shared.options.link?.close();
    throw thrown;
  });
  const known = options.protocols ?? registered;
  try {
    shared.check(upstream.card);
    const spoken = () => {
      const found = known.find(({ id }) => id === upstream.protocol);
      if (found === undefined) throw new AgentError("internal", `${upstream.protocol} is spoken and not known`);
      return found;
    };
    const handler = inward?.aboveFloor(upstream.handler, spoken) ?? upstream.handler;
    const behind = [url, ...upstream.interfaces.map((way) => inward?.address(way.url) ?? way.url)];
    const bridged = bridgedAgent(
      { handler, protocol: () => upstream.protocol, traits: () => spoken().traits, card: () => upstream.card },
      { signed: upstream.cardTrust !== "unsigned", behind, callers: shared },
      { ...settings, clock: settings.clock ?? options.clock, ids: settings.ids ?? options.ids },
    );
    return Object.assign(bridged, { upstream, close: () => upstream.close() });
  } catch (thrown) {
    await upstream.close();
    throw thrown;
  }
}

/** Only a card that stays as it is names the gateway instead of the peer. */
function inwardOf(url: string, { card, publicUrl }: BridgeSettings): Maybe<UpstreamAddressRewriter> {
  if (card !== "verbatim" || publicUrl === undefined || !URL.canParse(url) || !URL.canParse(publicUrl)) return undefined;
  return new UpstreamAddressRewriter(publicUrl, url);
}

/** What is known of the peer beside its handler. */
export interface BridgeFacts {
  /** Its card has signatures. */
  readonly signed: boolean;
  /** Its addresses. */
  readonly behind: readonly string[];
  /** What it learns of callers. Default: nothing. */
  readonly callers?: Maybe<Pick<SharedCallers, "sendsCredentialsOn" | "notes">>;
}

/** Whatever can be called, as an agent of ours: several peers behind a switchboard, for example. */
export function bridgedAgent(upstream: Upstream, known: BridgeFacts, settings: BridgeSettings): BridgedAgent {
  const { mode = "adopt", strict = false, signsCards = false, publicUrl } = settings;
  const { signed, behind, callers = { sendsCredentialsOn: false, notes: [] } } = known;
  const name = settings.name ?? nameFrom(upstream.card().name);
  const policy = settings.card ?? (signsCards ? "rewrite+resign" : "rewrite+strip");
  const account = new LossAccount();
  const protocol = upstream.protocol();
  const facts = { name, protocol, policy, signed, canSign: signsCards, publicUrl, behind, adopted: mode === "adopt" };
  const { card, downgrade, losses } = bridgedCard(upstream.card(), facts);
  for (const loss of losses) account.add(loss);
  // An extended card travels inside an answer, which is always written anew.
  const shown = (each: Card): Card => bridgedCard(each, { ...facts, policy: "rewrite+strip" }).card;
  const { secret = newSecret(), ids = systemIds } = settings;
  const parts: AdoptParts = {
    upstream,
    veil: createPseudonymizer(name, secret),
    credentials: callers.sendsCredentialsOn ? credentialSeal(name, secret, () => ids.now()) : undefined,
    lose: (loss) => account.add(loss),
    ids,
    clock: settings.clock ?? systemClock,
    random: settings.random ?? Math.random,
  };
  const relayed = relayTasks(upstream, shown);
  const downgrades = downgrade === undefined ? [] : [downgrade];
  const made = agent({ name, description: card.description, handle: adoptTasks(parts) });
  return {
    ...made,
    card,
    restartable: true,
    hasExtendedCard: card.capabilities.extended,
    losses: account,
    notes: [...callers.notes, ...downgrades, ...cautions(known, settings, policy)],
    downgrades,
    sendsCredentialsOn: callers.sendsCredentialsOn,
    behind,
    lost: (loss: Loss) => account.add(loss),
    cancel: cancelAdopted(parts),
    marks: (operation) => emulationMarks(upstream, operation),
    answers(operation: Operation, call) {
      const refused = refusedStranger(operation, call, { mode, card, sendsCredentialsOn: callers.sendsCredentialsOn });
      if (refused !== undefined) return Promise.reject(refused);
      if (operation.kind === "send") account.messages++;
      if (mode === "relay") return relayed(operation, call);
      if (operation.kind === "card" && operation.extended && card.capabilities.extended) return relayed(operation, call);
      if (strict && operation.kind === "send") {
        const unable = emulationRefused(upstream, operation.delivery);
        if (unable !== undefined) return Promise.reject(unable);
      }
      return operation.kind === "session.close" ? closeAdopted(parts, operation.sessionId, call) : undefined;
    },
  };
}

/** What an operator may not have thought of. */
function cautions({ callers }: BridgeFacts, { secret }: BridgeSettings, policy: CardPolicy): readonly string[] {
  return [
    ...(callers?.sendsCredentialsOn === true && secret === undefined
      ? ["no secret was given: tasks that outlive this process lose their callers' credentials"]
      : []),
    ...(policy === "verbatim" ? ["the card is served as it came: it must say how to get in here, not behind the gateway"] : []),
  ];
}

/**
 * Everybody without a name is one owner here. Where the peer knows callers apart, they would read each other's tasks; and
 * what the peer tells the gateway in an extended card is not for everybody.
 */
function refusedStranger(
  operation: Operation,
  { caller, credential }: Call,
  {
    mode,
    card,
    sendsCredentialsOn,
  }: { readonly mode: "adopt" | "relay"; readonly card: Card; readonly sendsCredentialsOn: boolean },
): Maybe<AgentError> {
  if (caller.scheme !== "anonymous") return undefined;
  if (operation.kind === "card" && operation.extended && card.capabilities.extended && credential === undefined)
    return new AgentError("unauthenticated", "the extended card is for authenticated callers");
  if (!sendsCredentialsOn || mode === "relay" || operation.kind === "card" || operation.kind === "ping") return undefined;
  return new AgentError(
    "unauthenticated",
    "callers' credentials go on to the agent behind this gateway, and the gateway itself does not know its callers apart",
  );
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
