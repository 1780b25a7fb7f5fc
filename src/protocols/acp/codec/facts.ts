import type { LossSink, Maybe } from "../../../envelope/index.js";
import type { HttpHeaders } from "../../../transport/exchange.js";
import type { NestedJson } from "../../../transport/json.js";

/** The inputs of a codec other than the wire value. */
export interface CodecFacts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  newId(): string;
  /** The default sender and receiver of a message. */
  readonly src: string;
  readonly dst: string;
  readonly partsPerMessage: number;
  /** Reads parts that are JSON in a string. */
  readonly nested: NestedJson;
  readonly reportLoss: LossSink;
  /** The request headers. Envelope members are carried there, because the SDKs drop unknown body members. */
  readonly headers?: Maybe<HttpHeaders>;
  /** The caller's session id, if it differs from that on the wire. */
  readonly contextId?: Maybe<string>;
  /** The message that is answered. */
  readonly parentId?: Maybe<string>;
}

/** The members of a run other than its task. */
export interface RunFacts {
  readonly agentName: string;
  /** Milliseconds since the epoch: the task's first message or status, never the time of reading. */
  readonly createdAt: number;
  readonly reportLoss: LossSink;
}
