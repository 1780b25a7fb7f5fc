import type { LossSink, Maybe } from "../../../envelope/index.js";
import type { HttpHeaders } from "../../../transport/exchange.js";

/** Facts a codec needs and does not take from the air. */
export interface CodecFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  newId(): string;
  /** The default sender and receiver of a message. */
  readonly src: string;
  readonly dst: string;
  readonly partsPerMessage: number;
  readonly lose: LossSink;
  /** The request's headers: envelope members ride there, because the body has no place that survives the SDKs. */
  readonly headers?: Maybe<HttpHeaders>;
  /** What the caller calls the session, where the wire knows it by another name. */
  readonly contextId?: Maybe<string>;
  /** The message that is answered. */
  readonly parentId?: Maybe<string>;
}

/** The members of a run other than its task. */
export interface RunFacts {
  readonly agentName: string;
  /** Milliseconds since the epoch: the task's first message or status, never the time of reading. */
  readonly createdAt: number;
  readonly lose: LossSink;
}
