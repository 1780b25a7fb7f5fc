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
  /** Whether an agent of this name is served here. Other names come from callers and must not become labels. */
  readonly serves?: (agent: string) => boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Server metrics: calls where they are handled, bytes where they are received and sent. */
export interface ServerMetering {
  /** Wraps the host's handler. */
  readonly layer: Layer;
  /** Counts the payloads of requests that became a call. */
  exchange(exchange: Exchange): Exchange;
  /** Called when a request has become a call, whose labels its bytes get. */
  callStarted(request: HttpRequest, call: Call): void;
}

interface MeteredCall {
  readonly meter: EdgeMeter;
  readonly operation: Operation;
  readonly call: Call;
  readonly startedMs: number;
}

/** A request being served; it has a meter once it has become a call. */
interface MeteredRequest {
  meter: EdgeMeter | undefined;
}

export function serverMetering({ metrics, serves, now }: ServerMeteringOptions): ServerMetering {
  const meterOf = ({ caller, agent, via }: Call): EdgeMeter => {
    const srcAgent = caller.scheme === "anonymous" ? "anonymous" : caller.id;
    return metrics.meter(srcAgent, serves === undefined || serves(agent) ? agent : OTHER, via.protocol);
  };
  // Entries are deleted when a request ends, so the map holds only requests in progress.
  const inProgress = new Map<HttpRequest, MeteredRequest>();
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
      const metered: MeteredRequest = { meter: undefined };
      inProgress.set(request, metered);
      try {
        const response = exchange(request);
        if (response instanceof Promise)
          return response.then(
            (answer) => {
              inProgress.delete(request);
              return count(metered, request, answer);
            },
            (thrown: unknown) => {
              inProgress.delete(request);
              throw thrown;
            },
          );
        inProgress.delete(request);
        return count(metered, request, response);
      } catch (thrown) {
        inProgress.delete(request);
        throw thrown;
      }
    },
    callStarted(request, call) {
      const metered = inProgress.get(request);
      if (metered !== undefined) metered.meter = meterOf(call);
    },
  };
}

function count({ meter }: MeteredRequest, request: HttpRequest, response: HttpResponse): HttpResponse {
  if (meter === undefined) return response;
  meter.bytes(request.body.length);
  return watchBody(response, { bytes: (bytes) => meter.bytes(bytes), end: () => undefined });
}
