/** One way of speaking, written by hand on both sides: nothing of what is measured has a part in it. */
export interface Wire {
  readonly id: string;
  /** The same way, as Koine's client is told to take it. */
  readonly pin: string;
  /** The version of HTTP that carries it. */
  readonly http: HttpVersion;
  readonly send: Sent;
  /** Twenty events are asked for; undefined where the protocol has no streams. */
  readonly stream: Sent | undefined;
  /** What the agent shows to whoever looks for it, by path. */
  documents(ports: Ports): Readonly<Record<string, unknown>>;
  /** The agent's whole work. Undefined for what it does not know. */
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
  /** Never the same twice: what ids are made of. */
  readonly number: number;
}

export type Answer =
  | { readonly kind: "one"; readonly contentType: string; readonly body: string | Buffer }
  | { readonly kind: "events"; readonly contentType: string; readonly events: readonly (string | Buffer)[] }
  /** No message was answered: a question of somebody who looks for an agent. */
  | { readonly kind: "aside"; readonly status: number; readonly contentType: string; readonly body: string }
  | { readonly kind: "grpc-error"; readonly status: number };

/** What the bench's agents and gateways are called. */
export const AGENT = "bench";
/** When the agent says that everything happened: recent enough for whoever keeps tasks by their age. */
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
