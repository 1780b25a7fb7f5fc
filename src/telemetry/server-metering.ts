import type { Call, Layer, Maybe, Operation, Principal } from "../envelope/index.js";
import { around } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import type { Chunk, Exchange, HttpRequest, HttpResponse, Session, SessionEnd, SessionTap } from "../transport/exchange.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import { OTHER } from "./edge.js";
import type { EdgeMeter, Metrics } from "./metrics.js";
import { record } from "./observed-handler.js";
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
  /** Counts the payloads of requests that became a call, with the labels of that call. */
  exchange(exchange: Exchange): Exchange;
  /** Counts a session, and its messages with the labels of the calls to which they belong. Other messages are not counted. */
  session(session: Session, protocol: string): void;
}

interface MeteredCall {
  readonly meter: EdgeMeter;
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
}

export function serverMetering({ metrics, sessions, serves, now }: ServerMeteringOptions): ServerMetering {
  const meterOf = ({ caller, agent, via }: Call): EdgeMeter =>
    metrics.meter(labelOf(caller), serves === undefined || serves(agent) ? agent : OTHER, via.protocol);
  const counted = (request: HttpRequest, response: HttpResponse): HttpResponse =>
    request.call === undefined ? response : count(meterOf(request.call), request, response);
  return {
    layer: around<MeteredCall>({
      begin(operation, call) {
        const meter = meterOf(call);
        meter.payload(sentContentBytes(operation));
        return { meter, operation, call, startedMs: now() };
      },
      event: ({ meter }, event) => meter.payload(receivedContentBytes(event)),
      end: ({ meter, operation, call, startedMs }, outcome) =>
        record(meter, (now() - startedMs) / 1000, outcome, traceIdOf(operation, call)),
    }),
    exchange: (exchange) => (request) => {
      const response = exchange(request);
      return response instanceof Promise ? response.then((answer) => counted(request, answer)) : counted(request, response);
    },
    session(session, protocol) {
      // A session is with the server and not with one of its agents.
      const ended = sessions.opened({ srcAgent: labelOf(callerOf(session)), dstId: OTHER, protocol });
      session.tap(new MeteredSession(meterOf, ended));
    },
  };
}

/** Counts the messages of one session, both directions. */
class MeteredSession implements SessionTap {
  readonly #meterOf: (call: Call) => EdgeMeter;
  readonly #ended: (end: SessionEnd) => void;
  /** The message that was assigned last: the calls of a batch share one message, which counts once. */
  #counted: Maybe<Chunk>;

  constructor(meterOf: (call: Call) => EdgeMeter, ended: (end: SessionEnd) => void) {
    this.#meterOf = meterOf;
    this.#ended = ended;
  }

  received(): void {
    // The next message counts even if it is equal to the last one.
    this.#counted = undefined;
  }

  assigned(frame: Chunk, call: Call): void {
    if (frame === this.#counted) return;
    this.#counted = frame;
    this.#meterOf(call).bytes(chunkBytes(frame));
  }

  sent(_frame: Chunk, bytes: number, call: Maybe<Call>): void {
    if (call !== undefined) this.#meterOf(call).bytes(bytes);
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

function labelOf(caller: Maybe<Principal>): string {
  if (caller === undefined) return OTHER;
  return caller.scheme === "anonymous" ? "anonymous" : caller.id;
}

function count(meter: EdgeMeter, request: HttpRequest, response: HttpResponse): HttpResponse {
  meter.bytes(request.body.length);
  return watchBody(response, { bytes: (bytes) => meter.bytes(bytes), end: () => undefined });
}
