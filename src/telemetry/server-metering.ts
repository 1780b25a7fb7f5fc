import { type Call, type Layer, type Maybe, type Operation, type Principal, receivedProbes } from "../envelope/index.js";
import { around } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import type {
  Chunk,
  Exchange,
  HttpRequest,
  HttpResponse,
  Session,
  SessionEnd,
  SessionMessage,
  SessionTap,
} from "../transport/exchange.js";
import { ByteAccount, byteAccounts } from "./byte-account.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import { OTHER } from "./edge.js";
import type { EdgeMeter, Metrics } from "./metrics.js";
import { record } from "./observed-handler.js";
import { isCheck, isCheckTraffic } from "./probes.js";
import type { SessionMetrics } from "./session-metrics.js";
import { chunkBytes, watchBody } from "./watch-body.js";

export interface ServerMeteringOptions {
  readonly metrics: Metrics;
  readonly sessions: SessionMetrics;
  /** Whether an agent of this name is served here. Other names come from callers and must not become labels. */
  readonly serves?: Maybe<(agent: string) => boolean>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Server metrics: calls where they are handled, bytes where they are received and sent. */
export interface ServerMetering {
  /** Wraps the host's handler. */
  readonly layer: Layer;
  /** Opens the byte account of a call. The calls of a batch share one. */
  callStarted(from: HttpRequest | SessionMessage, call: Call): void;
  /** Counts the payloads of requests that became a call, with the labels of that call. */
  exchange(exchange: Exchange): Exchange;
  /** Counts a session, and its messages with the labels of the calls to which they belong. Other messages are not counted. */
  session(session: Session, protocol: string): void;
}

interface MeteredCall {
  readonly account: ByteAccount;
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
}

export function serverMetering({ metrics, sessions, serves, now }: ServerMeteringOptions): ServerMetering {
  const meterOf = ({ caller, agent, via }: Call): EdgeMeter =>
    metrics.meter(labelOfCaller(caller), serves === undefined || serves(agent) ? agent : OTHER, via.protocol);
  const accounts = byteAccounts();
  const accountOf = (call: Call): ByteAccount => accounts.of(call) ?? new ByteAccount(meterOf(call));
  const counted = (request: HttpRequest, response: HttpResponse): HttpResponse =>
    request.call === undefined || isCheckTraffic(request.call) ? response : count(accountOf(request.call), request, response);
  return {
    layer: around<MeteredCall>({
      begin(operation, call) {
        if (isCheck(operation, call)) return undefined;
        const account = accountOf(call);
        account.content(sentContentBytes(operation));
        return { account, operation, call, startedMs: now() };
      },
      event: ({ account }, event) => account.content(receivedContentBytes(event)),
      end: ({ account: { meter }, operation, call, startedMs }, outcome) =>
        record(meter, (now() - startedMs) / 1000, outcome, traceIdOf(operation, call)),
    }),
    callStarted(from, call) {
      if (receivedProbes.of(call) !== undefined) return;
      const batch = "session" in from ? undefined : from.call;
      accounts.put(call, accounts.of(batch) ?? new ByteAccount(meterOf(call)));
    },
    exchange: (exchange) => (request) => {
      const response = exchange(request);
      return response instanceof Promise ? response.then((answer) => counted(request, answer)) : counted(request, response);
    },
    session(session, protocol) {
      // A session is with the server and not with one of its agents.
      const ended = sessions.opened({ srcAgent: labelOfCaller(callerOf(session)), dstId: OTHER, protocol });
      session.tap(new MeteredSession(accountOf, ended));
    },
  };
}

/** Counts the messages of one session, both directions. */
class MeteredSession implements SessionTap {
  readonly #accountOf: (call: Call) => ByteAccount;
  readonly #ended: (end: SessionEnd) => void;
  /** The message that was assigned last: the calls of a batch share one message, which counts once. */
  #counted: Maybe<Chunk>;

  constructor(accountOf: (call: Call) => ByteAccount, ended: (end: SessionEnd) => void) {
    this.#accountOf = accountOf;
    this.#ended = ended;
  }

  received(): void {
    // The next message counts even if it is equal to the last one.
    this.#counted = undefined;
  }

  assigned(frame: Chunk, call: Call): void {
    if (frame === this.#counted) return;
    this.#counted = frame;
    this.#accountOf(call).wire(chunkBytes(frame));
  }

  sent(_frame: Chunk, bytes: number, call: Maybe<Call>): void {
    if (call === undefined) return;
    const account = this.#accountOf(call);
    account.wire(bytes);
    account.settle();
  }

  ended(end: SessionEnd): void {
    this.#counted = undefined;
    this.#ended(end);
  }
}

/** Undefined until the protocol has authenticated the caller by its messages. */
function callerOf({ request: { admitted } }: Session): Maybe<Principal> {
  return admitted === undefined || admitted instanceof Promise ? undefined : admitted.principal;
}

/** Whoever is not authenticated has no name of its own. */
export function labelOfCaller(caller: Maybe<Principal>): string {
  if (caller === undefined) return OTHER;
  return caller.scheme === "anonymous" ? "anonymous" : caller.id;
}

/** Content is counted before it is written, so that a written message is complete. */
function count(account: ByteAccount, request: HttpRequest, response: HttpResponse): HttpResponse {
  account.wire(request.bodyBytes ?? request.body.length);
  const bytes = (count: number): void => {
    account.wire(count);
    account.settle();
  };
  return watchBody(response, { bytes, end: () => account.settle() });
}
