import type { Call, Layer, Operation } from "../envelope/index.js";
import { around } from "../policies/index.js";
import { traceIdOf } from "../policies/trace-id.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { receivedContentBytes, sentContentBytes } from "./content-bytes.js";
import { OTHER } from "./edge.js";
import type { EdgeMeter, Metrics } from "./metrics.js";
import { record } from "./observed-handler.js";
import { watchBody } from "./watch-body.js";

export interface ServerMeteringOptions {
  readonly metrics: Metrics;
  /** Is this the name of an agent that is served here? Other names come from callers and are no labels. */
  readonly serves?: (agent: string) => boolean;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

/** The metrics of the serving side: calls where they are handled, bytes where they arrive and leave. */
export interface ServerMetering {
  /** Goes around the host's handler. */
  readonly layer: Layer;
  /** Counts the payloads of requests that became a call. */
  exchange(exchange: Exchange): Exchange;
  /** Whose bytes they are: told when a request has become a call. */
  callStarted(request: HttpRequest, call: Call): void;
}

interface Watched {
  readonly meter: EdgeMeter;
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
}

/** A request on its way through the door; it has a meter once it has become a call. */
interface Visit {
  meter: EdgeMeter | undefined;
}

export function serverMetering({ metrics, serves, now }: ServerMeteringOptions): ServerMetering {
  const meterOf = ({ caller, agent, via }: Call): EdgeMeter => {
    const srcAgent = caller.scheme === "anonymous" ? "anonymous" : caller.id;
    return metrics.meter(srcAgent, serves === undefined || serves(agent) ? agent : OTHER, via.protocol);
  };
  // Emptied by hand when a visit ends, so that it never holds more than what is under way.
  const underWay = new Map<HttpRequest, Visit>();
  return {
    layer: around<Watched>({
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
      const visit: Visit = { meter: undefined };
      underWay.set(request, visit);
      try {
        const response = exchange(request);
        if (response instanceof Promise)
          return response.then(
            (answer) => {
              underWay.delete(request);
              return count(visit, request, answer);
            },
            (thrown: unknown) => {
              underWay.delete(request);
              throw thrown;
            },
          );
        underWay.delete(request);
        return count(visit, request, response);
      } catch (thrown) {
        underWay.delete(request);
        throw thrown;
      }
    },
    callStarted(request, call) {
      const visit = underWay.get(request);
      if (visit !== undefined) visit.meter = meterOf(call);
    },
  };
}

function count({ meter }: Visit, request: HttpRequest, response: HttpResponse): HttpResponse {
  if (meter === undefined) return response;
  meter.bytes(request.body.length);
  return watchBody(response, { bytes: (bytes) => meter.bytes(bytes), end: () => undefined });
}
