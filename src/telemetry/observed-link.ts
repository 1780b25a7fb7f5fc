import { AgentError, type CallSlot, healthChecks, type Maybe } from "../envelope/index.js";
import { traceIdIn } from "../policies/trace-id.js";
import { bytesOf } from "../transport/body.js";
import type { Exchange, HttpRequest, HttpResponse, Link, SessionTap } from "../transport/exchange.js";
import { type ByteAccount, type ByteAccounts, countUncalled, endsMessage } from "./byte-account.js";
import type { Edge } from "./edge.js";
import type { Hooks } from "./hooks.js";
import type { EdgeMeter } from "./metrics.js";
import type { Attempt } from "./observed-handler.js";
import type { SessionMetrics } from "./session-metrics.js";
import { chunkBytes, watchBody } from "./watch-body.js";

/** The observers of one link. */
export interface LinkObserver {
  readonly edge: Edge;
  readonly meter: Maybe<EdgeMeter>;
  /** Already guarded: they never throw. */
  readonly hooks: Maybe<Hooks>;
  readonly attempts: CallSlot<Attempt>;
  readonly accounts: ByteAccounts;
  readonly sessions: Maybe<SessionMetrics>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Counts every payload once, where bytes are sent and received. */
export function observedLink(link: Link, observer: LinkObserver): Link {
  const observed = { exchange: observedExchange(link.exchange, observer), close: () => link.close() };
  if (link.open === undefined) return observed;
  const open = link.open.bind(link);
  return {
    ...observed,
    async open(request, subprotocols) {
      const upgrade = new ObservedRequest(request, observer);
      const session = await open(request, subprotocols).catch((thrown: unknown) => {
        upgrade.failed(thrown);
        throw thrown;
      });
      upgrade.accepted();
      session.tap(observedSession(observer));
      return session;
    },
  };
}

/** The observer of one session. All its messages are traffic of this edge, to whichever call they belong. */
function observedSession({ edge, meter, hooks, attempts, accounts, sessions }: LinkObserver): SessionTap {
  const ended = sessions?.opened(edge);
  const afterEncode = hooks?.afterEncode?.bind(hooks);
  /** Received bytes that belong to no call, as far as is known: around the content. */
  let unassigned = 0;
  return {
    received(_frame, bytes) {
      meter?.bytes(bytes);
      unassigned += bytes;
    },
    assigned(frame, call) {
      const bytes = chunkBytes(frame);
      const account = accounts.of(call);
      if (account === undefined) return;
      unassigned -= bytes;
      account.assigned(bytes);
    },
    sent(frame, bytes, call) {
      const attempt = attempts.of(call);
      countWire(meter, accounts.of(call), bytes);
      afterEncode?.({ edge, traceId: attempt?.traceId, operation: attempt?.operation, payload: bytesOf(frame) });
    },
    ended(end) {
      if (unassigned > 0) meter?.overhead(unassigned);
      ended?.(end);
    },
  };
}

function observedExchange(exchange: Exchange, observer: LinkObserver): Exchange {
  return (request) => {
    if (healthChecks.of(request.call) === true) return exchange(request);
    const observed = new ObservedRequest(request, observer);
    let response: HttpResponse | Promise<HttpResponse>;
    try {
      response = exchange(request);
    } catch (thrown) {
      observed.failed(thrown);
      throw thrown;
    }
    if (!(response instanceof Promise)) return observed.arrived(response);
    return response.then(observed.arrived, (thrown: unknown) => {
      observed.failed(thrown);
      throw thrown;
    });
  };
}

/** RFC 6455 §4.2.2: the upgrade is accepted. */
const SWITCHING_PROTOCOLS = 101;

/** One request and its response. */
class ObservedRequest {
  readonly #request: HttpRequest;
  readonly #observer: LinkObserver;
  readonly #attempt: Maybe<Attempt>;
  readonly #account: Maybe<ByteAccount>;
  readonly #startedMs: number;
  #received = 0;

  constructor(request: HttpRequest, observer: LinkObserver) {
    this.#request = request;
    this.#observer = observer;
    this.#attempt = observer.attempts.of(request.call);
    this.#account = observer.meter && observer.accounts.of(request.call);
    const { hooks, edge } = observer;
    if (hooks !== undefined) {
      hooks.afterEncode?.({ edge, traceId: this.#traceId(), operation: this.#attempt?.operation, payload: request.body });
      hooks.beforeTransport?.(this.#note());
    }
    this.#startedMs = hooks === undefined ? 0 : observer.now();
  }

  readonly arrived = (response: HttpResponse): HttpResponse => {
    this.#countSent();
    let isBetweenMessages = false;
    return watchBody(response, {
      bytes: (count, chunk) => {
        // The reader asks for more when it has read all that came before.
        if (isBetweenMessages) this.#account?.settle();
        isBetweenMessages = endsMessage(chunk);
        this.#received += count;
        countWire(this.#observer.meter, this.#account, count);
      },
      end: (thrown) => this.#ended(response.status, thrown),
    });
  };

  /** The request opened a session. */
  accepted(): void {
    this.#ended(SWITCHING_PROTOCOLS, undefined);
  }

  failed(thrown: unknown): void {
    // A request that was never sent is not traffic.
    if (!(thrown instanceof AgentError && thrown.facts.sent === "no")) this.#countSent();
    this.#ended(undefined, thrown);
  }

  #countSent(): void {
    countWire(this.#observer.meter, this.#account, this.#request.body.length);
  }

  #ended(status: Maybe<number>, thrown: unknown): void {
    const { hooks, now } = this.#observer;
    if (hooks?.afterTransport === undefined) return;
    hooks.afterTransport({
      ...this.#note(),
      status,
      receivedBytes: this.#received,
      elapsedMs: now() - this.#startedMs,
      error: thrown === undefined ? undefined : AgentError.from(thrown),
    });
  }

  #note() {
    const { method, target, body } = this.#request;
    const query = target.indexOf("?");
    return {
      edge: this.#observer.edge,
      traceId: this.#traceId(),
      method,
      target: query < 0 ? target : target.slice(0, query),
      bytes: body.length,
    };
  }

  #traceId(): Maybe<string> {
    return this.#attempt?.traceId ?? traceIdIn(this.#request.headers["traceparent"]);
  }
}

function countWire(meter: Maybe<EdgeMeter>, account: Maybe<ByteAccount>, bytes: number): void {
  if (account === undefined) countUncalled(meter, bytes);
  else account.wire(bytes);
}
