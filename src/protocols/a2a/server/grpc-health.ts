import { AgentError, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import type { Health } from "../../health.js";
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

/** How often the readiness is looked at while somebody watches. */
const WATCH_MS = 1_000;

type ServingStatus = "SERVING" | "NOT_SERVING" | "SERVICE_UNKNOWN";

/** grpc.health.v1: serves while the host is ready, as `/readyz` says: its store and its agents answer, and it does not close. */
export class GrpcHealth {
  readonly #health: Health;
  readonly #watches = new Set<HealthWatch>();
  #isPolling = false;
  #isClosed = false;

  constructor(health: Health) {
    this.#health = health;
  }

  async answer(request: HttpRequest): Promise<HttpResponse> {
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
    return isKnown ? respond(frameOf(await this.#status())) : grpcRefusal("NOT_FOUND", "unknown service");
  }

  async #status(): Promise<ServingStatus> {
    return !this.#isClosed && (await this.#health.status()) === "ok" ? "SERVING" : "NOT_SERVING";
  }

  /** A service that is not known may be added later, so the call stays open. */
  #watch({ connection: { remote } }: HttpRequest, isKnown: boolean): HttpResponse {
    const own = [...this.#watches].filter((watch) => watch.remote === remote);
    if (this.#watches.size >= WATCHES || own.length >= WATCHES_PER_ADDRESS)
      return grpcRefusal("RESOURCE_EXHAUSTED", "too many health watches are open; use Check");
    const watch = new HealthWatch(remote, isKnown, () => this.#watches.delete(watch));
    this.#watches.add(watch);
    if (!isKnown) watch.show("SERVICE_UNKNOWN");
    if (this.#isClosed) watch.close();
    else void this.#status().then((status) => watch.report(status));
    if (!this.#isPolling) this.#poll();
    return respond(watch);
  }

  #poll(): void {
    this.#isPolling = this.#watches.size > 0;
    if (!this.#isPolling) return;
    setTimeout(() => void this.#report().finally(() => this.#poll()), WATCH_MS).unref();
  }

  async #report(): Promise<void> {
    if (this.#watches.size === 0) return;
    const status = await this.#status();
    for (const watch of this.#watches) watch.report(status);
  }

  /** The server stops: watchers learn it, and no watch delays the end. */
  close(): void {
    this.#isClosed = true;
    for (const watch of this.#watches) watch.close();
  }
}

function frameOf(status: ServingStatus): Uint8Array {
  return encodeFrame(HealthCheckResponse, { status });
}

function respond(body: Uint8Array | AsyncIterable<Uint8Array>): HttpResponse {
  return { status: 200, headers: GRPC_HEADERS, body, trailers: () => OK };
}

type Step = IteratorResult<Uint8Array, undefined>;
const DONE: Step = { done: true, value: undefined };

/** The body of one watch: the status now, and again whenever it changes. A slow reader gets the newest one only. */
class HealthWatch implements AsyncIterableIterator<Uint8Array> {
  readonly remote: string;
  readonly #isKnown: boolean;
  readonly #ended: () => void;
  #shown: Maybe<ServingStatus>;
  #unread: Maybe<Uint8Array>;
  #isOver = false;
  #waiting: Maybe<(step: Step) => void>;

  constructor(remote: string, isKnown: boolean, ended: () => void) {
    this.remote = remote;
    this.#isKnown = isKnown;
    this.#ended = ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#deliver();
    });
  }

  /** The status of the server, which is that of every known service. */
  report(status: ServingStatus): void {
    if (this.#isKnown) this.show(status);
  }

  show(status: ServingStatus): void {
    if (this.#isOver || status === this.#shown) return;
    this.#shown = status;
    this.#unread = frameOf(status);
    this.#deliver();
  }

  close(): void {
    this.report("NOT_SERVING");
    this.#end();
  }

  /** The watcher has disconnected. */
  return(): Promise<Step> {
    this.#unread = undefined;
    this.#end();
    return Promise.resolve(DONE);
  }

  #end(): void {
    this.#isOver = true;
    this.#deliver();
    this.#ended();
  }

  #deliver(): void {
    const waiting = this.#waiting;
    const value = this.#unread;
    if (waiting === undefined || (value === undefined && !this.#isOver)) return;
    this.#waiting = undefined;
    this.#unread = undefined;
    waiting(value === undefined ? DONE : { done: false, value });
  }
}
