import { isObject, type JsonObject, type Loss, type LossSink, type Maybe } from "../../../envelope/index.js";
import { readObject } from "../../../transport/fields.js";

/**
 * The extension member of Koine on a part, the only object whose unknown members both SDKs keep. Written only if ACP has no
 * member for the data. Members of a whole message are on its first part. Never contains trace ids or idempotency keys, because
 * agents forward parts.
 */
export const KOINE_KEY = "urn:koine:1";

/** The Koine members of a part. All are optional. */
export function koineMembersOf(part: unknown, path: string): Maybe<JsonObject> {
  const own = isObject(part) ? part[KOINE_KEY] : undefined;
  return own === undefined || own === null ? undefined : readObject(own, `${path}["${KOINE_KEY}"]`);
}

/** The path of the Koine members of a part, for error messages. */
export function koinePath(path: string, member: string): string {
  return `${path}["${KOINE_KEY}"].${member}`;
}

export function reportLossAt(reportLoss: LossSink, path: string, valueKind: string, reason: string): void {
  const loss: Loss = { protocol: "acp", path, valueKind, reason };
  reportLoss(loss);
}
