import { type Envelope, type JsonObject, type Maybe, type Part, textPart } from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject, readString, readText } from "../../../transport/fields.js";

/** The seed's text form of a signature: `keyid="…", algorithm="…", created=…, signature="…"`, and `expires=…, nonce="…"` of a whole message. */
export interface SignatureText {
  readonly keyId: string;
  readonly algorithm: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** In base64. */
  readonly signature: string;
  /** Seconds since the epoch. */
  readonly expires?: Maybe<number>;
  readonly nonce?: Maybe<string>;
}

const MAX_CHARS = 4_096;
const MEMBER = /^\s*([a-z]+)=(?:"([\x20\x21\x23-\x5b\x5d-\x7e]*)"|(\d{1,15}))\s*(?:,|$)/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function writeSignatureText({ keyId, algorithm, created, signature, expires, nonce }: SignatureText): string {
  const more = [...(expires === undefined ? [] : [`expires=${expires}`]), ...(nonce === undefined ? [] : [`nonce="${nonce}"`])];
  return [`keyid="${keyId}"`, `algorithm="${algorithm}"`, `created=${created}`, `signature="${signature}"`, ...more].join(", ");
}

/** Members in any order, each once. Throws DecodeProblem. */
export function readSignatureText(text: string): SignatureText {
  if (text.length > MAX_CHARS) throw new DecodeProblem("signature", `has at most ${MAX_CHARS} characters`);
  const members = new Map<string, string>();
  for (let rest = text; rest !== ""; ) {
    const [all, name = "", quoted, number] = MEMBER.exec(rest) ?? [];
    if (all === undefined || members.has(name)) throw new DecodeProblem("signature", 'must be keyid="…", algorithm="…", …');
    members.set(name, quoted ?? number ?? "");
    rest = rest.slice(all.length);
  }
  const member = (name: string): string => readText(members.get(name), `signature.${name}`);
  const created = seconds(member("created"), "signature.created");
  const signature = member("signature");
  if (!BASE64.test(signature)) throw new DecodeProblem("signature.signature", "must be base64");
  const [expires, nonce] = [members.get("expires"), members.get("nonce")];
  return {
    ...{ keyId: member("keyid"), algorithm: member("algorithm"), created, signature },
    ...(expires === undefined ? undefined : { expires: seconds(expires, "signature.expires") }),
    ...(nonce === undefined ? undefined : { nonce }),
  };
}

function seconds(text: string, field: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new DecodeProblem(field, "must be seconds since 1970");
  return Number(text);
}

/** A message in the seed's snake_case form. `security` is absent in a plain one. */
export interface SeedMessage {
  readonly messageId: string;
  readonly contextId: Maybe<string>;
  readonly role: Envelope["role"];
  readonly parts: readonly Part[];
  /** ISO 8601. */
  readonly timestamp: Maybe<string>;
  readonly security: Maybe<{
    readonly mode: string;
    readonly signature: SignatureText;
    readonly keyId: string;
    readonly did: string;
  }>;
}

export function writeSeedMessage({ messageId, contextId, role, parts, timestamp, security }: SeedMessage): JsonObject {
  return {
    message_id: messageId,
    ...(contextId === undefined ? undefined : { context_id: contextId }),
    role,
    parts: parts.map(writePart),
    ...(timestamp === undefined ? undefined : { metadata: { timestamp } }),
    ...(security === undefined
      ? undefined
      : {
          security: {
            mode: security.mode,
            signature: writeSignatureText(security.signature),
            key_id: security.keyId,
            did: security.did,
          },
        }),
  };
}

/** Throws DecodeProblem with the member that is wrong. */
export function readSeedMessage(value: unknown): SeedMessage {
  const object = readObject(value, "message");
  const role = readString(object["role"], "role");
  if (role !== "user" && role !== "agent") throw new DecodeProblem("role", "must be user or agent");
  const metadata = optional(object["metadata"], "metadata", readObject);
  return {
    messageId: readText(object["message_id"], "message_id"),
    contextId: optional(object["context_id"], "context_id", readText),
    role,
    parts: readArray(object["parts"], "parts", readPart),
    timestamp: optional(metadata?.["timestamp"], "metadata.timestamp", readText),
    security: optional(object["security"], "security", (member, path) => {
      const security = readObject(member, path);
      return {
        mode: readText(security["mode"], `${path}.mode`),
        signature: readSignatureText(readText(security["signature"], `${path}.signature`)),
        keyId: readText(security["key_id"], `${path}.key_id`),
        did: readText(security["did"], `${path}.did`),
      };
    }),
  };
}

/** The seed has text and data. */
function writePart(part: Part): JsonObject {
  if (part.kind === "text") return { kind: "text", text: part.text };
  if (part.kind === "data") return { kind: "data", data: part.data };
  throw new DecodeProblem("parts", `a part of kind ${part.kind} has no form in the seed's message`);
}

function readPart(value: unknown, path: string): Part {
  const part = readObject(value, path);
  if (part["kind"] === "text") return textPart(readString(part["text"], `${path}.text`));
  if (part["kind"] === "data")
    return { kind: "data", data: part["data"] ?? null, mediaType: undefined, name: undefined, metadata: undefined };
  throw new DecodeProblem(`${path}.kind`, "must be text or data");
}
