import type { Maybe, Metadata } from "./json.js";
import type { Part } from "./part.js";

/** The exact bytes that the author signed. A verified proof replaces `content`; it is never recreated from it. */
export interface Proof {
  readonly scheme: string;
  readonly signer: string;
  readonly keyId: string;
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** The trace, conversation and task of a message, and its delivery options. */
export interface Context {
  readonly traceId?: Maybe<string>;
  /** The id of the message that caused this one. */
  readonly parentId?: Maybe<string>;
  readonly idempotencyKey?: Maybe<string>;
  readonly sessionId?: Maybe<string>;
  readonly taskId?: Maybe<string>;
  readonly priority?: Maybe<number>;
  readonly ttlMs?: Maybe<number>;
  readonly stream?: Maybe<boolean>;
  readonly artifactRefs?: Maybe<readonly string[]>;
  readonly tags?: Maybe<readonly string[]>;
  readonly minVersion?: Maybe<string>;
  readonly maxVersion?: Maybe<string>;
}

/** The Unified Transport Envelope: the message that every protocol is translated to and from. */
export interface Envelope {
  readonly id: string;
  /** Seconds since the epoch, with milliseconds as the fraction. */
  readonly ts: number;
  readonly src: string;
  readonly dst: string;
  readonly intent: string;
  readonly role: "user" | "agent";
  readonly content: readonly Part[];
  readonly context: Context;
  readonly meta: { readonly protocolHint?: Maybe<string>; readonly retryCount?: Maybe<number> };
  /** Ids of related tasks. */
  readonly references?: Maybe<readonly string[]>;
  /** URIs of the protocol extensions used in this message. */
  readonly extensions?: Maybe<readonly string[]>;
  /** The author's own members. */
  readonly metadata?: Maybe<Metadata>;
  readonly proofs?: Maybe<readonly Proof[]>;
  /** Unknown members, preserved for UTE JSON and for hops within one protocol. */
  readonly extra?: Maybe<Metadata>;
}

export const NO_CONTEXT: Context = Object.freeze({});
export const NO_META: Envelope["meta"] = Object.freeze({});
