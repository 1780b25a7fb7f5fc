import type { Card } from "../envelope/card.js";
import type { Handler } from "../envelope/handler.js";
import type { JsonObject, Maybe } from "../envelope/json.js";
import type { Identity } from "../security/identity/index.js";
import type { Exchange, HttpRequest, HttpResponse, RequestSigner, Session } from "../transport/exchange.js";

/** The areas that requirements are grouped by. */
export const CONFORMANCE_AREAS = ["connectivity", "round-trip", "streaming", "long-running", "security", "edge-cases"] as const;
/** The area of a requirement. */
export type ConformanceArea = (typeof CONFORMANCE_AREAS)[number];

/** A skill with this tag declares that the agent understands the commands of the conformance agent (`conform: …`). */
export const CONFORMANCE_TAG = "koine-conformance";

/** A request received by a webhook of the conformance run. */
export interface Delivery {
  readonly method: string;
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: Maybe<string> };
  readonly text: string;
}

/** A webhook of the conformance run, for push notifications. */
export interface Hook {
  readonly url: string;
  /** In order of arrival. */
  readonly deliveries: readonly Delivery[];
  /** Resolves as soon as `isEnough` returns true. */
  until(isEnough: (deliveries: readonly Delivery[]) => boolean): Promise<void>;
  close(): void;
}

/** A connection of the run's identity. */
export interface IdentifiedPeer {
  readonly handler: Handler;
  readonly card: Card;
  close(): Promise<void>;
}

/** How a connection of the run's identity is made. */
export interface IdentifiedConnection {
  readonly protocol: string;
  /** Settings of the protocol, beside those of the run. */
  readonly settings?: Maybe<JsonObject>;
  /** Sends each request as it was signed: the check may note or change it. Default: it is sent. */
  readonly send?: Maybe<(final: HttpRequest, send: Exchange) => HttpResponse | Promise<HttpResponse>>;
}

/** The identity of the run, for endpoints that answer nobody else. */
export interface IdentifiedCaller {
  readonly identity: Identity;
  /** By the client of this library: others cannot make what only the holder of the keys can send. */
  connect(connection: IdentifiedConnection): Promise<IdentifiedPeer>;
}

/** The endpoint under test, and how to send requests to it. */
export interface Subject {
  /** The base URL of the endpoint, without a trailing slash. */
  readonly url: string;
  readonly exchange: Exchange;
  /** Headers of every request, such as credentials. */
  readonly headers: { readonly [name: string]: string };
  newId(): string;
  /** Signs every request that is not anonymous. Default: none is signed. */
  readonly signer?: Maybe<RequestSigner>;
  /** Absent: what needs an identity is skipped. */
  readonly caller?: Maybe<IdentifiedCaller>;
  /** Opens a WebSocket session. Absent: what needs one is skipped. */
  readonly openSession?: Maybe<(url: string, subprotocols: readonly string[]) => Promise<Session>>;
  /** Opens a webhook. Absent if the endpoint could not reach it. */
  readonly openHook?: Maybe<() => Promise<Hook>>;
}

/** The result of a requirement that does not apply to the endpoint, with the reason. */
export interface Skipped {
  readonly skipped: string;
}

/** One conformance requirement: its description, and a check that throws if the endpoint does not meet it. */
export interface Requirement {
  /** A stable id, such as `a2a:jsonrpc:version:unknown-is-refused`. */
  readonly id: string;
  readonly capability: ConformanceArea;
  /** `must` or `should`, as in RFC 2119. */
  readonly level: "must" | "should";
  /** The version and binding under test. Absent for requirements on the endpoint as a whole, such as its card. */
  readonly wire?: Maybe<{ readonly version: string; readonly binding: string }>;
  /** The section of the specification that states the requirement. */
  readonly source: string;
  /** What a conforming server does, in one sentence. */
  readonly behaviour: string;
  check(subject: Subject): Promise<void | Skipped>;
}
