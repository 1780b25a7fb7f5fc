import { AgentError, type JsonObject } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { HEALTH_SERVICE, REFLECTION_SERVICES, SERVICES } from "../grpc/address.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, isCompressed, onlyMessage } from "../grpc/framing.js";
import { HEALTH_SCHEMA } from "../grpc/schema-health.js";
import { OK } from "../grpc/status.js";
import { GRPC_HEADERS, grpcRefusal, SMALL_MESSAGE } from "./grpc-services.js";

const { HealthCheckRequest, HealthCheckResponse } = HEALTH_SCHEMA;

/** The empty name is the server as a whole. */
const KNOWN: ReadonlySet<unknown> = new Set([
  undefined,
  "",
  ...[HEALTH_SERVICE, ...Object.values(SERVICES), ...REFLECTION_SERVICES].map((path) => path.slice(1)),
]);

/** Anyone may watch, and a watch stays open: all of them together, and those of one address. */
const WATCHES = 100;
const WATCHES_PER_ADDRESS = 10;

/** grpc.health.v1: a server that answers serves, until it is closed. A failing upstream is reported by its calls. */
export class GrpcHealth {
  readonly #watches = new Set<HealthWatch>();

  answer(request: HttpRequest): HttpResponse {
    const { path, body } = request;
    const method = path.slice(HEALTH_SERVICE.length + 1);
    if (method !== "Check" && method !== "Watch") return grpcRefusal("UNIMPLEMENTED", `unknown method ${path.slice(1, 129)}`);
    if (isCompressed(body)) return grpcRefusal("UNIMPLEMENTED", "compressed messages are not supported");
    let service: JsonObject[string];
    try {
      ({ service } = decodeMessage(HealthCheckRequest, onlyMessage(body), SMALL_MESSAGE));
    } catch (thrown) {
      return grpcRefusal("INVALID_ARGUMENT", AgentError.from(thrown).message);
    }
    const isKnown = KNOWN.has(service);
    if (method === "Watch") return this.#watch(request, isKnown);
    return isKnown ? respond(frameOf("SERVING")) : grpcRefusal("NOT_FOUND", "unknown service");
  }

  /** A service that is not known may be added later, so the call stays open. */
  #watch({ connection: { remote } }: HttpRequest, isKnown: boolean): HttpResponse {
    const own = [...this.#watches].filter((watch) => watch.remote === remote);
    if (this.#watches.size >= WATCHES || own.length >= WATCHES_PER_ADDRESS)
      return grpcRefusal("RESOURCE_EXHAUSTED", "too many health watches are open; use Check");
    const watch = new HealthWatch(remote, isKnown, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return respond(watch);
  }

  /** The server stops: watchers learn it, and no watch delays the end. */
  close(): void {
    for (const watch of this.#watches) watch.close();
  }
}

function frameOf(status: "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN"): Uint8Array {
  return encodeFrame(HealthCheckResponse, { status });
}

function respond(body: Uint8Array | AsyncIterable<Uint8Array>): HttpResponse {
  return { status: 200, headers: GRPC_HEADERS, body, trailers: () => OK };
}

type Step = IteratorResult<Uint8Array, undefined>;
const DONE: Step = { done: true, value: undefined };

/** The body of one watch: the status now, and once more when the server stops. */
class HealthWatch implements AsyncIterableIterator<Uint8Array> {
  readonly remote: string;
  readonly #isKnown: boolean;
  readonly #ended: () => void;
  #steps: Step[];
  #waiting: ((step: Step) => void) | undefined;

  constructor(remote: string, isKnown: boolean, ended: () => void) {
    this.remote = remote;
    this.#isKnown = isKnown;
    this.#ended = ended;
    this.#steps = [{ done: false, value: frameOf(isKnown ? "SERVING" : "SERVICE_UNKNOWN") }];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const step = this.#steps.shift();
    if (step !== undefined) return Promise.resolve(step);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.#steps.push(...(this.#isKnown ? [{ done: false, value: frameOf("NOT_SERVING") } as const] : []), DONE);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting(this.#steps.shift() ?? DONE);
    this.#ended();
  }

  /** The watcher has disconnected. */
  return(): Promise<Step> {
    this.#steps = [DONE];
    this.#waiting?.(DONE);
    this.#waiting = undefined;
    this.#ended();
    return Promise.resolve(DONE);
  }
}
