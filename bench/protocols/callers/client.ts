import type { Protection } from "../processes/tasks.js";
import type { RequestEvent } from "../result/index.js";

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
