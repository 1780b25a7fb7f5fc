import { isObject, type JsonObject, type Loss, type LossSink, type Maybe } from "../../../envelope/index.js";
import { readObject } from "../../../transport/fields.js";

/**
 * The one extra key of ours on a part: both SDKs keep members of a part they do not know, and of nothing else. It is written
 * only when there is something to say that ACP has no place for. What belongs to a whole message stands on its first part.
 * Trace ids and idempotency keys are never in it, because agents hand parts on.
 */
export const OWN_KEY = "urn:koine:1";

/** The Koine members of a part. All are optional. */
export function ownOf(part: unknown, path: string): Maybe<JsonObject> {
  const own = isObject(part) ? part[OWN_KEY] : undefined;
  return own === undefined || own === null ? undefined : readObject(own, `${path}["${OWN_KEY}"]`);
}

/** The path of the Koine members of a part, for error messages. */
export function ownPath(path: string, member: string): string {
  return `${path}["${OWN_KEY}"].${member}`;
}

export function lost(lose: LossSink, path: string, valueKind: string, reason: string): void {
  const loss: Loss = { protocol: "acp", path, valueKind, reason };
  lose(loss);
}
