import { hash } from "node:crypto";
import { SignatureError } from "./signature-error.js";
import { FieldSyntaxError, isInnerList, parseDictionary } from "./structured-fields.js";

/** The algorithms of RFC 9530 that are not deprecated, with their names in OpenSSL. */
const ALGORITHMS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

/** A digest algorithm of RFC 9530. */
export type DigestAlgorithm = keyof typeof ALGORITHMS;

/** A longer field is refused without parsing. */
const MAX_FIELD_CHARS = 2_048;

/** The `Content-Digest` field of a body. */
export function contentDigest(body: Uint8Array | string, algorithm: DigestAlgorithm): string {
  return `${algorithm}=:${hash(ALGORITHMS[algorithm], body, "base64")}:`;
}

/**
 * Checks a body against its `Content-Digest` field. Unknown algorithms are ignored; at least one must be known, and all known ones must
 * match.
 */
export function checkContentDigest(field: string, body: Uint8Array): void {
  // The usual form, without a parser.
  if (field.length === SHA_256_CHARS && field === contentDigest(body, "sha-256")) return;
  let known = 0;
  for (const [name, value] of digestsIn(field)) {
    if (!isKnown(name)) continue;
    known++;
    if (hash(ALGORITHMS[name], body, "base64") !== value)
      throw new SignatureError("digest_mismatch", `the body does not have the ${name} digest that Content-Digest states`);
  }
  if (known === 0) throw new SignatureError("digest_missing", "Content-Digest has no sha-256 or sha-512 digest");
}

const SHA_256_CHARS = "sha-256=::".length + 44;

function digestsIn(field: string): readonly (readonly [name: string, base64: string])[] {
  if (field.length > MAX_FIELD_CHARS)
    throw new SignatureError("too_large", `Content-Digest has at most ${MAX_FIELD_CHARS} characters`);
  try {
    return Array.from(parseDictionary(field, "refuse"), ([name, member]) => {
      if (isInnerList(member) || member.bare.type !== "bytes") throw new FieldSyntaxError("a digest is a byte sequence");
      return [name, member.bare.value] as const;
    });
  } catch (thrown) {
    if (!(thrown instanceof FieldSyntaxError)) throw thrown;
    throw new SignatureError("malformed", `Content-Digest is not valid: ${thrown.message}`);
  }
}

function isKnown(name: string): name is DigestAlgorithm {
  return Object.hasOwn(ALGORITHMS, name);
}
