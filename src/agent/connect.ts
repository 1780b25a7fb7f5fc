import {
  AgentError,
  type Card,
  type Envelope,
  type Handler,
  isPromise,
  type Layer,
  type Maybe,
  type Part,
  startCall,
} from "../envelope/index.js";
import { type Clock, checkAnswers, deadline, stack, systemClock } from "../policies/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { Ids, Protocol } from "../protocols/protocol.js";
import { classOfUrl, guardedDial, lookupByDns, resolveByDns } from "../security/index.js";
import { carryTrace, noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { poolLink } from "../transport/node/index.js";
import { Connection } from "./connection.js";
import { type Credentials, credentialHeaders, withCredentials } from "./credentials.js";
import { candidatesOf, find } from "./find.js";
import { systemIds } from "./ids.js";
import { followLinks } from "./large-parts.js";
import type { Candidate, Shares } from "./pick-interface.js";
import { type Speaker, speaker } from "./remote-agent.js";
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

/** A connected peer: what it speaks, how we know, and the calls one can make. */
export interface RemoteAgent extends Speaker {
  readonly url: string;
  readonly protocol: string;
  readonly version: string;
  readonly binding: string;
  readonly card: Card;
  /** How we know, one sentence each. */
  readonly evidence: readonly string[];
  /** A live answer was seen in this protocol's own grammar. */
  readonly proved: boolean;
  /** Discover and prime once more. */
  initialize(): Promise<void>;
  /** True only after a real answer. */
  health(): Promise<boolean>;
  /** What a URL part of an answer points to, through the guard, size and digest checked. */
  fetch(part: Part, signal?: AbortSignal): Promise<Part>;
  /** Messages the peer starts. Where the protocol has none it is said once, and remembered. */
  receive(): AsyncIterable<Envelope>;
  /** Steers sends by percentage from now on. */
  share(shares: Shares): void;
  /** Lets calls under way end, then lets go of the connections. */
  close(): Promise<void>;
}

const DISCOVER_MS = 10_000;
const sharedVerdicts = new Verdicts();

/** Finds out what an address speaks, and connects to it. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteAgent> {
  const address = checkedUrl(url);
  const {
    protocols = registered,
    clock = systemClock,
    ids = systemIds,
    telemetry = noTelemetry,
    verdicts = sharedVerdicts,
  } = options;
  const limits = options.limits ?? DEFAULT_LIMITS;
  const bare = options.link ?? poolLink({ limits, ...guardedDial(address, resolveByDns, lookupByDns) });
  const link = withCredentials(bare, address, options.credentials ?? {});
  const key = verdictKey(address, options);
  const edgeFor = ({ protocol }: Candidate) => ({
    srcAgent: options.as ?? "other",
    dstId: options.id ?? "other",
    protocol: protocol.id,
  });

  async function findOut(
    anew: boolean,
  ): Promise<{ readonly connection: Connection; readonly evidence: readonly string[]; readonly proved: boolean }> {
    const known = verdicts.get(key, clock.now());
    const discoverMs = options.discoverMs ?? DISCOVER_MS;
    const verdict =
      known?.fresh === true && !anew
        ? known.verdict
        : await find(address, { protocols, link, clock, discoverMs, known: known?.verdict });
    verdicts.put(key, verdict);
    const candidates = candidatesOf(verdict, options.pin);
    const chosen = verdict.findings.find(({ protocol }) => protocol === candidates[0]?.protocol)?.finding;
    const connection = new Connection({
      linkFor: (candidate) => telemetry.link(link, edgeFor(candidate)),
      candidates,
      ids,
      random: options.random ?? Math.random,
      wrap: (handler, candidate) => wrapped(handler, candidate),
      onVersionError: () => verdicts.end(key),
    });
    connection.shares = options.shares ?? {};
    return { connection, evidence: chosen?.evidence ?? [], proved: chosen?.proved ?? false };
  }

  const limit = options.timeoutMs === undefined ? undefined : deadline(options.timeoutMs, clock);
  const wrapped = (handler: Handler, candidate: Candidate): Handler =>
    stack([
      telemetry.client(edgeFor(candidate), address),
      carryTrace,
      ...(options.layers ?? []),
      limit,
      checkAnswers(),
      telemetry.wire(edgeFor(candidate)),
    ])(handler);

  let state: Awaited<ReturnType<typeof findOut>>;
  try {
    state = await findOut(false);
  } catch (thrown) {
    if (options.link === undefined) await bare.close();
    throw thrown;
  }
  let cannotReceive: Maybe<AgentError>;

  return {
    ...speaker({
      handler: (operation, call) => state.connection.handle(operation, call),
      src: options.as ?? "",
      dst: () => state.connection.current.peer.card.name,
      ids,
    }),
    url: address,
    get protocol() {
      return state.connection.current.protocol.id;
    },
    get version() {
      return state.connection.current.peer.version;
    },
    get binding() {
      return state.connection.current.peer.binding;
    },
    get card() {
      return state.connection.current.peer.card;
    },
    get evidence() {
      return state.evidence;
    },
    get proved() {
      return state.proved;
    },
    async initialize() {
      state = await findOut(true);
    },
    async health() {
      try {
        const reply = state.connection.handle({ kind: "ping" }, startCall());
        return isPromise(reply) && (await reply).kind === "done";
      } catch {
        return false;
      }
    },
    receive() {
      const { protocol, peer } = state.connection.current;
      if (cannotReceive === undefined && protocol.receive !== undefined) return protocol.receive(link, peer, startCall());
      cannotReceive ??= new AgentError("unsupported", `${protocol.id} has no messages that the peer starts`, { sent: "no" });
      return refused(cannotReceive);
    },
    async fetch(part, signal = new AbortController().signal) {
      return followLinks(await classOfUrl(address, resolveByDns))(part, signal);
    },
    share(shares) {
      state.connection.shares = shares;
    },
    close: () => link.close(),
  };
}

/** An iterable that says no when it is asked, as a stream of messages would. */
function refused(error: AgentError): AsyncIterable<Envelope> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) };
}

function checkedUrl(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new AgentError("invalid_message", `${JSON.stringify(url.slice(0, 200))} is not a URL; it looks like http://host:port`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    throw new AgentError("unsupported", `agents are reached by http and https, not by ${parsed.protocol}`, {
      field: "url",
      sent: "no",
    });
  }
  if (parsed.username !== "" || parsed.password !== "") {
    throw new AgentError("invalid_message", "credentials do not belong into a URL; pass them as credentials", {
      field: "url",
      sent: "no",
    });
  }
  return parsed.href.replace(/\/$/, "");
}

/** Other credentials may see another card, and another list of protocols looks for other things. */
function verdictKey(url: string, { credentials = {}, protocols = registered }: ConnectOptions): string {
  return JSON.stringify([
    url,
    credentialHeaders(credentials),
    protocols.map(({ id, versions }) => `${id}@${versions.join("+")}`),
  ]);
}
