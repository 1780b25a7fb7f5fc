import type { Handler, Layer } from "../envelope/index.js";
import { type Clock, checkAnswers, deadline, stack, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { Ids, Protocol } from "../protocols/protocol.js";
import { guardedDial, lookupByDns, resolveByDns } from "../security/index.js";
import { carryTrace, type Edge, noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { poolLink } from "../transport/node/index.js";
import { Connection } from "./connection.js";
import { type Credentials, credentialHeaders, withCredentials } from "./credentials.js";
import { candidatesOf, find } from "./find.js";
import { systemIds } from "./ids.js";
import type { Candidate, Shares } from "./pick-interface.js";
import { Verdicts } from "./verdicts.js";

export interface ConnectOptions {
  /** Default: every registered protocol. */
  readonly protocols?: readonly Protocol[];
  /** `a2a`, `a2a@0.3` or `a2a@0.3/JSONRPC`: only this way, and no other is tried. */
  readonly pin?: string;
  readonly credentials?: Credentials;
  /** How long to wait for one answer, streams included. Default: no limit but the transport's own. */
  readonly timeoutMs?: number;
  /** How long discovery may take. */
  readonly discoverMs?: number;
  /** Policies around every call, outermost first. */
  readonly layers?: readonly Layer[];
  /** Our own name: who calls. */
  readonly as?: string;
  /** The peer's configured name, for metrics. Default: the name on its card is not used; `other` is. */
  readonly id?: string;
  readonly telemetry?: Telemetry;
  readonly limits?: Limits;
  /** Percent of the sends by protocol and version; can be changed later with `share`. */
  readonly shares?: Shares;
  /** Where verdicts are kept. Default: one for the process. */
  readonly verdicts?: Verdicts;
  /** What carries the bytes. Default: pooled HTTP. */
  readonly link?: Link;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly random?: () => number;
}

const DISCOVER_MS = 10_000;
const sharedVerdicts = new Verdicts();

/** An address, and everything needed to find out about it and to call it. */
export interface Target {
  readonly address: string;
  readonly as: string;
  readonly options: ConnectOptions;
  readonly link: Link;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly verdicts: Verdicts;
  /** Under which its verdict is kept. */
  readonly key: string;
}

/** What was found out, ready to be called. */
export interface Reached {
  readonly connection: Connection;
  readonly evidence: readonly string[];
  readonly proved: boolean;
}

export function targetOf(address: string, options: ConnectOptions): Target {
  const limits = options.limits ?? DEFAULT_LIMITS;
  const bare = options.link ?? poolLink({ limits, ...guardedDial(address, resolveByDns, lookupByDns) });
  return {
    address,
    as: options.as ?? "",
    options,
    link: withCredentials(bare, address, options.credentials ?? {}),
    ids: options.ids ?? systemIds,
    clock: options.clock ?? systemClock,
    verdicts: options.verdicts ?? sharedVerdicts,
    key: verdictKey(address, options),
  };
}

/** By the verdict that is known and fresh, unless it is to be found out anew. */
export async function reach(target: Target, anew: boolean): Promise<Reached> {
  const { address, options, link, clock, verdicts, key } = target;
  const { protocols = registered, discoverMs = DISCOVER_MS } = options;
  const known = verdicts.get(key, clock.now());
  const verdict =
    known?.fresh === true && !anew
      ? known.verdict
      : await find(address, { protocols, link, clock, discoverMs, known: known?.verdict });
  verdicts.put(key, verdict);
  const candidates = candidatesOf(verdict, options.pin);
  const chosen = verdict.findings.find(({ protocol }) => protocol === candidates[0]?.protocol)?.finding;
  return { connection: connectionTo(target, candidates), evidence: chosen?.evidence ?? [], proved: chosen?.proved ?? false };
}

function connectionTo(target: Target, candidates: readonly Candidate[]): Connection {
  const { options, link, ids, verdicts, key } = target;
  const telemetry = options.telemetry ?? noTelemetry;
  const connection = new Connection({
    linkFor: (candidate) => telemetry.link(link, edgeOf(target, candidate)),
    candidates,
    ids,
    random: options.random ?? Math.random,
    wrap: (handler, candidate) => layered(handler, target, edgeOf(target, candidate)),
    onVersionError: () => verdicts.end(key),
  });
  connection.shares = options.shares ?? {};
  return connection;
}

/** Outermost first: what watches the whole call, the user's policies, the time limit, what checks answers, what watches each try. */
function layered(handler: Handler, { address, options, clock }: Target, edge: Edge): Handler {
  const telemetry = options.telemetry ?? noTelemetry;
  const limit = options.timeoutMs === undefined ? undefined : deadline(options.timeoutMs, clock);
  const layers = [
    telemetry.client(edge, address),
    carryTrace,
    ...(options.layers ?? []),
    limit,
    checkAnswers(),
    telemetry.wire(edge),
  ];
  return stack(layers)(handler);
}

/** Labels are configured names: the name on a peer's card is whatever the peer likes. */
function edgeOf({ options }: Target, { protocol }: Candidate): Edge {
  return { srcAgent: options.as ?? "other", dstId: options.id ?? "other", protocol: protocol.id };
}

/** Other credentials may see another card, and another list of protocols looks for other things. */
function verdictKey(url: string, { credentials = {}, protocols = registered }: ConnectOptions): string {
  return JSON.stringify([
    url,
    credentialHeaders(credentials),
    protocols.map(({ id, versions }) => `${id}@${versions.join("+")}`),
  ]);
}
