import { AgentError, type JsonObject, type Maybe, type ReplayGuard } from "../envelope/index.js";
import { type ExtraRoute, front } from "../protocols/front.js";
import { createHost } from "../protocols/host.js";
import type { IdSource } from "../protocols/protocol.js";
import { type AdmissionFacts, admittedOf } from "../security/admission.js";
import { FailedAttempts } from "../security/failed-attempts.js";
import { createResolver, type Resolver } from "../security/identity/index.js";
import {
  type Admission,
  type AuditSink,
  type AuditTrail,
  auditTrail,
  createHostCheck,
  type HostCheck,
} from "../security/index.js";
import { newOperatorToken, operatorAdmission, shownToken } from "../security/operator-token.js";
import { createReplayGuard } from "../security/replay/index.js";
import type { Telemetry } from "../telemetry/index.js";
import type { HttpRequest, HttpResponse, Intake, RequestHead } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import { isLoopbackHost } from "../transport/loopback.js";
import { type Listening, listen, type TlsOptions } from "../transport/node/index.js";
import { errorResponse, jsonResponse } from "../transport/response.js";
import { metricsResponse } from "./metrics-route.js";
import type { OnError } from "./report-errors.js";

/** The operator's listener: metrics, details of the health, and routes such as the page and the inspector. */
export interface AdminOptions {
  /**
   * `own` (default): a port of its own. `callers`: the port of the agents, with the same token; whoever can call the agents can then
   * also try to reach the operator's routes.
   */
  readonly listener?: Maybe<"own" | "callers">;
  /** Default: any free port. */
  readonly port?: Maybe<number>;
  /** Default: 127.0.0.1. */
  readonly host?: Maybe<string>;
  /** Certificate and key, in PEM. Needed beyond loopback, unless `clearText` is set. */
  readonly tls?: Maybe<TlsOptions>;
  /** Explicitly allows another host than loopback without TLS: whoever sees the network can then read the token. */
  readonly clearText?: Maybe<boolean>;
  /** The address that operators use, if a proxy is in front of this listener. */
  readonly publicUrl?: Maybe<string>;
  /** Required of every request, in `x-koine-token` or as bearer token; at least 16 characters. Default: generated. */
  readonly token?: Maybe<string>;
  /** Who may read without the token. Default: nobody. */
  readonly admission?: Maybe<Admission>;
  /** The operator's routes, such as those of the inspector. */
  readonly routes?: Maybe<readonly ExtraRoute[]>;
}

/** Where the operator's routes are, and their token. */
export interface AdminAddress {
  /** The base URL. */
  readonly url: string;
  /** A secret: never log it. */
  readonly token: string;
  /** Whether this process made the token. One that was configured is known to its operator and need not be printed. */
  readonly generated: boolean;
}

export interface AdminParts {
  readonly telemetry: Maybe<Telemetry>;
  readonly limits: Limits;
  readonly ids: IdSource;
  readonly onError: Maybe<OnError>;
  readonly audit: Maybe<AuditSink>;
  /** Whether calls can be answered, and what is served, for `/health`. */
  details(): Promise<JsonObject>;
}

const NOT_CACHED = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;
/** The callers' port is drained before: feeds that stay open must not delay the stop a second time. */
const DRAIN_MS = 1_000;
const STATUS: { readonly [code: string]: number } = { forbidden: 403, overloaded: 429, unavailable: 503 };

/** The operator's routes behind their token. */
export class Admin {
  readonly token: string;
  readonly #options: AdminOptions;
  readonly #parts: AdminParts;
  readonly #admission: Admission;
  readonly #trail: Maybe<AuditTrail>;
  readonly #failures: FailedAttempts;
  readonly #replay: ReplayGuard;
  readonly #resolver: Resolver;

  constructor(options: AdminOptions, parts: AdminParts) {
    refuseClearText(options);
    this.#options = options;
    this.#parts = parts;
    this.#trail = parts.audit && auditTrail(parts.audit, parts.ids);
    this.token = options.token ?? newOperatorToken();
    this.#admission = operatorAdmission(this.token, options.admission);
    const now = (): number => parts.ids.now();
    this.#failures = new FailedAttempts(parts.limits.adminFailures, now);
    this.#replay = createReplayGuard({ limits: parts.limits, now });
    this.#resolver = createResolver({ now });
  }

  /** The routes for the callers' port. */
  get routesForCallers(): readonly ExtraRoute[] {
    return this.#options.listener === "callers" ? this.#routes() : [];
  }

  /** Opens the port; undefined if the routes are on the callers' port. */
  async open(): Promise<Maybe<Listening>> {
    const { listener, port = 0, host = "127.0.0.1", tls, publicUrl } = this.#options;
    if (listener === "callers") return undefined;
    const { ids, limits, onError } = this.#parts;
    const handler = (): Promise<never> => Promise.reject(new AgentError("not_found", "there are no agents on this listener"));
    const health: ExtraRoute = this.#guarded({
      route: { method: "GET", path: "/health" },
      exchange: () => this.#health(),
    });
    const served = front(
      createHost({ handler, cards: [], ids, limits, admission: this.#admission }),
      [],
      [health, ...this.#routes()],
    );
    let check: Maybe<HostCheck>;
    const refused = (head: RequestHead): Maybe<HttpResponse> => {
      const error = check?.(head);
      if (error === undefined) return undefined;
      this.#trail?.refused(head, error);
      return errorResponse(403, error);
    };
    const intake: Intake = { take: (request) => refused(request) ?? served.take(request) };
    const drainMs = Math.min(limits.drainMs, DRAIN_MS);
    const listening = await listen(intake, { port, host, tls, limits: { ...limits, drainMs }, onError });
    check = createHostCheck({ port: listening.port, boundHost: host, publicUrl });
    return listening;
  }

  async #health(): Promise<HttpResponse> {
    const details = await this.#parts.details();
    return jsonResponse(details["status"] === "ok" ? 200 : 503, JSON.stringify(details), NOT_CACHED);
  }

  #routes(): readonly ExtraRoute[] {
    const { telemetry } = this.#parts;
    const metrics: readonly ExtraRoute[] =
      telemetry === undefined
        ? []
        : [{ route: { method: "GET", path: "/metrics" }, exchange: (request) => metricsResponse(telemetry, request) }];
    return [...metrics, ...(this.#options.routes ?? [])].map((each) => this.#guarded(each));
  }

  /** The same route for holders of the token. What everybody may see stays as it is. */
  #guarded({ route, exchange, access }: ExtraRoute): ExtraRoute {
    if (access === "anybody") return { route, exchange };
    return {
      route,
      exchange: async (request, host) => {
        try {
          await this.#admit(request);
        } catch (thrown) {
          const error = AgentError.from(thrown);
          this.#refused(request, error);
          return errorResponse(STATUS[error.code] ?? 401, error, { ...NOT_CACHED, "www-authenticate": "Bearer" });
        }
        return exchange(request, host);
      },
    };
  }

  /** Signatures cover the public address: what a proxy writes into a request is not believed. */
  #factsOf({ target, path, query }: HttpRequest): AdmissionFacts {
    const publicUrl = this.#options.publicUrl?.replace(/\/$/, "");
    const address = publicUrl === undefined ? target : `${publicUrl}${path}${query === "" ? "" : `?${query}`}`;
    return { target: address, replay: this.#replay, resolver: this.#resolver, now: () => this.#parts.ids.now() };
  }

  /** On the callers' port the audit of that port records what it refuses. */
  #refused(request: HttpRequest, error: AgentError): void {
    if (this.#options.listener !== "callers") this.#trail?.refused(request, error);
  }

  /** Only wrong tokens count as failures: a page or a scraper without one guesses nothing. */
  async #admit(request: HttpRequest): Promise<void> {
    const { remote } = request.connection;
    try {
      const decision = await this.#admission(request, this.#factsOf(request));
      const outcome = "complete" in decision ? await decision.complete(request.body) : decision;
      this.#trail?.admitted(request, admittedOf(outcome).principal);
    } catch (thrown) {
      if (shownToken(request) === undefined || AgentError.from(thrown).code !== "unauthenticated") throw thrown;
      throw this.#failures.add(remote) ?? thrown;
    }
  }
}

/** The token must not be readable on a network, unless the operator says that it may. */
function refuseClearText({ listener, host = "127.0.0.1", tls, clearText }: AdminOptions): void {
  if (listener === "callers" || tls !== undefined || clearText === true || isLoopbackHost(host)) return;
  throw new AgentError(
    "invalid_message",
    `the admin listener on ${host} has no TLS, so its token could be read on the network: set admin.tls, or admin.clearText to allow it`,
    { field: "admin.host" },
  );
}
