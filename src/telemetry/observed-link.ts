import { AgentError, type Maybe } from "../envelope/index.js";
import { watchIterable } from "../policies/index.js";
import { traceIdIn } from "../policies/trace-id.js";
import type { Chunk, Exchange, HttpRequest, HttpResponse, Link, Session } from "../transport/exchange.js";
import type { Attempt, Attempts } from "./attempts.js";
import type { Edge } from "./edge.js";
import type { Hooks } from "./hooks.js";
import type { EdgeMeter } from "./metrics.js";
import { chunkBytes, watchBody } from "./watch-body.js";

/** The observers of one link. */
export interface LinkObserver {
  readonly edge: Edge;
  readonly meter: Maybe<EdgeMeter>;
  /** Already guarded: they never throw. */
  readonly hooks: Maybe<Hooks>;
  readonly attempts: Attempts;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Counts every payload once, where bytes are sent and received. */
export function observedLink(link: Link, observer: LinkObserver): Link {
  const observed = {
    exchange: observedExchange(link.exchange, observer),
    inbox: link.inbox,
    close: () => link.close(),
  };
  if (link.open === undefined) return observed;
  const open: Link["open"] = async (url, subprotocols) => {
    const session = await link.open?.(url, subprotocols);
    if (session === undefined) throw new AgentError("unsupported", "this link does not support sessions", { sent: "no" });
    return observedSession(session, observer.meter);
  };
  return { ...observed, open };
}

function observedExchange(exchange: Exchange, observer: LinkObserver): Exchange {
  return (request) => {
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

/** One request and its response. */
class ObservedRequest {
  readonly #request: HttpRequest;
  readonly #observer: LinkObserver;
  readonly #attempt: Maybe<Attempt>;
  readonly #startedMs: number;
  #received = 0;

  constructor(request: HttpRequest, observer: LinkObserver) {
    this.#request = request;
    this.#observer = observer;
    this.#attempt = observer.attempts.of(request);
    const { hooks, edge } = observer;
    if (hooks !== undefined) {
      hooks.afterEncode?.({ edge, traceId: this.#traceId(), operation: this.#attempt?.operation, payload: request.body });
      hooks.beforeTransport?.(this.#note());
    }
    this.#startedMs = hooks === undefined ? 0 : observer.now();
  }

  readonly arrived = (response: HttpResponse): HttpResponse => {
    this.#countSent();
    return watchBody(response, {
      bytes: (count) => {
        this.#received += count;
        this.#observer.meter?.bytes(count);
      },
      end: (thrown) => this.#ended(response.status, thrown),
    });
  };

  failed(thrown: unknown): void {
    // A request that was never sent is not traffic.
    if (!(thrown instanceof AgentError && thrown.facts.sent === "no")) this.#countSent();
    this.#ended(undefined, thrown);
  }

  #countSent(): void {
    const { meter } = this.#observer;
    if (meter === undefined) return;
    const { length } = this.#request.body;
    meter.bytes(length);
    if (this.#attempt?.repeats === true) meter.retryOverhead(length);
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

function observedSession(session: Session, meter: Maybe<EdgeMeter>): Session {
  if (meter === undefined) return session;
  const count = (frame: Chunk): void => meter.bytes(chunkBytes(frame));
  return {
    async send(frame) {
      await session.send(frame);
      count(frame);
    },
    frames: watchIterable(session.frames, { item: count, end: () => undefined }),
    close: (code, reason) => session.close(code, reason),
    request: session.request,
  };
}
