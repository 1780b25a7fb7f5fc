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

/** How a message was sent, beside what it says. */
export interface Meta {
  readonly protocolHint?: Maybe<string>;
  readonly retryCount?: Maybe<number>;
  /** Set by a server that replaced `src` by its authenticated caller: what the caller had written. */
  readonly claimedSrc?: Maybe<string>;
}

/** The Unified Transport Envelope: the message that every protocol is translated to and from. */
export interface Envelope {
  /** Unique among all messages. */
  readonly id: string;
  /** Seconds since the epoch, with milliseconds as the fraction. */
  readonly ts: number;
  /** The name of the sender. */
  readonly src: string;
  /** The name of the receiver. */
  readonly dst: string;
  /** The skill the message is for; empty for none. */
  readonly intent: string;
  /** `user` for requests, `agent` for answers. */
  readonly role: "user" | "agent";
  /** The parts of the message. */
  readonly content: readonly Part[];
  /** Trace, conversation, task and delivery options. */
  readonly context: Context;
  readonly meta: Meta;
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
