import type { Protection } from "../processes/tasks.js";
import type { RequestEvent } from "../result/index.js";

/** The longest text of an error that is kept. */
export const ERROR_CHARS = 300;
/** Each pause before a retry is so many times the last one. */
export const BACKOFF_FACTOR = 2;

/** One try of one request. */
export interface Attempt {
  readonly answer?: string | undefined;
  /** Set if there is no answer. */
  readonly error?:
    | { readonly text: string; readonly kind: "timeout" | "transient" | "final"; readonly isNetwork: boolean }
    | undefined;
  readonly stamps: Pick<RequestEvent["stamps"], "encodeStart" | "write" | "replyEnd" | "firstToken">;
  /** When the answer was delivered; undefined: now. */
  readonly done?: number | undefined;
  readonly bodyBytes?: RequestEvent["bodyBytes"];
  readonly streamEvents: number;
}

export interface SentRequest {
  readonly seq: number;
  readonly agent: string;
  readonly payload: string;
  /** Of the agent that is called, in an arm that has a protocol for each module. */
  readonly module?: string | undefined;
  /** Ends the attempt. */
  readonly signal?: AbortSignal | undefined;
}

/** The client side of one implementation, connected to all agents of a run. It never retries. */
export interface BenchClient {
  /** What its calls insist on. */
  readonly protection: Protection;
  /** The limits that it was really opened with. */
  readonly limits: { readonly connectTimeoutMs: number; readonly messageTimeoutMs: number };
  send(request: SentRequest): Promise<Attempt>;
  close(): Promise<void>;
}
