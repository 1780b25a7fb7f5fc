import { type Call, type Maybe, type Operation, traceIdHex } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { traceIdOf } from "../trace-id.js";
import { choose, type Selector, sortedBy, weightOf } from "./selector.js";

/** Options of `consistentHash`. */
export interface ConsistentHashOptions {
  /** What is hashed: the session or the trace. */
  readonly by: "session" | "trace";
}

/**
 * Sends the same session or trace to the same destination, without state: two gateways with the same configuration agree.
 * Rendezvous hashing: every destination has a weighted score for the key, and the order is that of the scores. When a
 * destination leaves, only its keys move, each to its second best; a new one takes only its share. Load is deliberately not
 * bounded: moving a session away from its state costs more than an uneven share, and the bulkhead rejects overload. A
 * message without a key is hashed by its own id; other operations use the configured order.
 */
export function consistentHash({ by }: ConsistentHashOptions): Selector {
  return {
    name: `consistent-hash-by-${by}`,
    order: (usable, operation, call) =>
      choose(usable, operation, (able) => {
        const key = keyOf(by, operation, call);
        if (key !== undefined) return { order: byScore(able, key), because: `the ${by} hashes to it` };
        if (operation.kind !== "send") return { order: able, because: `no ${by}; the first in order` };
        return { order: byScore(able, operation.envelope.id), because: `no ${by}; hashed by message id` };
      }),
  };
}

function keyOf(by: "session" | "trace", operation: Operation, call: Call): Maybe<string> {
  if (by === "session") return sessionOf(operation);
  const traceId = traceIdOf(operation, call);
  return traceIdHex(traceId) ?? traceId;
}

function sessionOf(operation: Operation): Maybe<string> {
  if (operation.kind === "send") return operation.envelope.context.sessionId;
  if (operation.kind === "task.list") return operation.contextId;
  return operation.kind === "session.close" ? operation.sessionId : undefined;
}

const HASHES = 2 ** 32;

/** The draw of `weighted`, with a hash of key and destination instead of a random number. */
function byScore(able: readonly Destination[], key: string): readonly Destination[] {
  const keyHash = hash(key);
  return sortedBy(able, (each) => -Math.log((mix(keyHash ^ hash(each.id)) + 0.5) / HASHES) / weightOf(each));
}

/** FNV-1a over the code units, then mixed: alone it hardly changes the high bits for the last characters. */
function hash(text: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return mix(state);
}

/** The finaliser of MurmurHash3: every bit of the input changes every bit of the result with equal probability. */
function mix(value: number): number {
  let state = value ^ (value >>> 16);
  state = Math.imul(state, 0x85ebca6b);
  state ^= state >>> 13;
  state = Math.imul(state, 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
