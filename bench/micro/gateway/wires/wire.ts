/** One interface, written by hand on both sides, independent of the measured code. */
export interface Wire {
  readonly id: string;
  /** The same interface as a `pin` for Koine's client. */
  readonly pin: string;
  /** The version of HTTP that carries it. */
  readonly http: HttpVersion;
  readonly send: Sent;
  /** The request for twenty events; undefined if the protocol has no streams. */
  readonly stream: Sent | undefined;
  /** The documents of the agent for discovery, by path. */
  documents(ports: Ports): Readonly<Record<string, unknown>>;
  /** Answers a request. Undefined for unknown ones. */
  answer(asked: Asked): Answer | undefined;
}

export type HttpVersion = 1 | 2;

/** A request as any caller writes it; the agent by hand and a gateway take it at the same path. */
export interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Where the agent listens, by version of HTTP. */
export type Ports = Readonly<Record<HttpVersion, number>>;

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  /** A new number for each id. */
  readonly number: number;
}

export type Answer =
  | { readonly kind: "one"; readonly contentType: string; readonly body: string | Buffer }
  | { readonly kind: "events"; readonly contentType: string; readonly events: readonly (string | Buffer)[] }
  /** Not a message: a request of discovery. */
  | { readonly kind: "aside"; readonly status: number; readonly contentType: string; readonly body: string }
  | { readonly kind: "grpc-error"; readonly status: number };

/** The name of the benchmark's agents and gateways. */
export const AGENT = "bench";
/** The timestamp of all events: recent enough for stores that expire tasks by age. */
export const MOMENT = new Date().toISOString();
export const JSON_TYPE = "application/json";
export const SSE_TYPE = "text/event-stream";

export function jsonSent(path: string, body: string, headers: Readonly<Record<string, string>> = {}): Sent {
  return { path, headers: { "content-type": JSON_TYPE, ...headers }, body: Buffer.from(body) };
}

export function jsonAnswer(value: unknown): Answer {
  return { kind: "one", contentType: JSON_TYPE, body: JSON.stringify(value) };
}

export function sseAnswer(values: readonly unknown[]): Answer {
  return { kind: "events", contentType: SSE_TYPE, events: values.map((value) => `data: ${JSON.stringify(value)}\n\n`) };
}

/** A name that passes for a UUID, which one of the protocols wants. */
export function uuidOf(kind: number, number: number): string {
  return `${kind.toString(16).padStart(8, "0")}-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}
