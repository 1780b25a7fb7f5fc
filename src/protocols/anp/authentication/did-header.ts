import type { Awaitable, JsonObject, Maybe } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { type Identity, type PublicKey, verifySignature } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { readTimestamp, writeTimestamp } from "../../../transport/timestamp.js";
import { signingKeyOf } from "../identity/own-identity.js";

/** The `Authorization: DIDWba` header: version 1.0 signs the domain as `service`, 1.1 as `aud`. */
export type HeaderVersion = "1.0" | "1.1";

export interface DidHeader {
  /** Undefined in headers of agent-connect up to 0.3.6, which are 1.0, and of other old clients. */
  readonly version: Maybe<HeaderVersion>;
  readonly did: string;
  readonly nonce: string;
  /** As written: it is signed. */
  readonly timestamp: string;
  readonly atMs: number;
  /** The DID URL of the key. */
  readonly keyId: string;
  readonly signature: Uint8Array;
}

const SCHEME = /^didwba\b/i;
const MAX_HEADER_CHARS = 4_096;
const SIGNATURE_BYTES = 64;
const COORDINATE_BYTES = 32;

export function isDidHeader(authorization: Maybe<string>): authorization is string {
  return authorization !== undefined && SCHEME.test(authorization.trim());
}

/** Undefined if it is not a complete header. */
export function readDidHeader(authorization: string): Maybe<DidHeader> {
  if (authorization.length > MAX_HEADER_CHARS) return undefined;
  const member = (name: string): Maybe<string> => new RegExp(`(?:^|[\\s,])${name}="([^"]*)"`, "i").exec(authorization)?.[1];
  const [did, nonce, timestamp, method, signature] = ["did", "nonce", "timestamp", "verification_method", "signature"].map(
    member,
  );
  const version = member("v");
  if (version !== undefined && version !== "1.0" && version !== "1.1") return undefined;
  if (did === undefined || !nonce || timestamp === undefined || !method || !signature) return undefined;
  const atMs = timeOf(timestamp);
  if (atMs === undefined) return undefined;
  const keyId = `${did}#${method.replace(/^#/, "")}`;
  return { version, did, nonce, timestamp, atMs, keyId, signature: Buffer.from(signature, "base64url") };
}

function timeOf(timestamp: string): Maybe<number> {
  try {
    return readTimestamp(timestamp, "timestamp");
  } catch {
    return undefined;
  }
}

/** The header of an identity for the host at `domain`, without a port. */
export function writeDidHeader(
  identity: Identity,
  {
    domain,
    version,
    nonce,
    nowMs,
  }: { readonly domain: string; readonly version: HeaderVersion; readonly nonce: string; readonly nowMs: number },
): Awaitable<string> {
  const key = signingKeyOf(identity);
  const timestamp = `${writeTimestamp(nowMs).slice(0, 19)}Z`;
  const { did } = identity;
  const finish = (signature: Uint8Array): string =>
    `DIDWba v="${version}", did="${did}", nonce="${nonce}", timestamp="${timestamp}", ` +
    `verification_method="${key.id.slice(did.length + 1)}", signature="${Buffer.from(signature).toString("base64url")}"`;
  const signature = identity.sign(key.id, signedHash({ did, nonce, timestamp }, domain, version));
  return signature instanceof Promise ? signature.then(finish) : finish(signature);
}

/** Whether the header was signed for this domain. A header without a version may be of either. */
export function isSignedFor(header: DidHeader, key: PublicKey, domain: string): boolean {
  const versions: readonly HeaderVersion[] = header.version === undefined ? ["1.0", "1.1"] : [header.version];
  return versions.some((version) => {
    const hash = signedHash(header, domain, version);
    return signaturesIn(header.signature, key).some((signature) => verifySignature(key, "authentication", hash, signature));
  });
}

/** Elliptic curve keys sign the SHA-256 of this hash, as every released SDK does. */
export function signedHash(
  { did, nonce, timestamp }: Pick<DidHeader, "did" | "nonce" | "timestamp">,
  domain: string,
  version: HeaderVersion,
): Uint8Array {
  const named: JsonObject = version === "1.0" ? { service: domain } : { aud: domain };
  return sha256(canonicalJson({ did, nonce, timestamp, ...named }));
}

/** agent-connect writes r and s without leading zeros: where a signature is short, each way to divide it is tried. */
export function signaturesIn(signature: Uint8Array, { kind }: Pick<PublicKey, "kind">): readonly Uint8Array[] {
  const missing = SIGNATURE_BYTES - signature.length;
  if (kind === "Ed25519" || missing === 0) return [signature];
  if (missing < 0 || missing > MOST_STRIPPED) return [];
  return Array.from({ length: missing + 1 }, (_, stripped) => {
    const rBytes = COORDINATE_BYTES - stripped;
    const whole = new Uint8Array(SIGNATURE_BYTES);
    whole.set(signature.subarray(0, rBytes), stripped);
    const s = signature.subarray(rBytes);
    whole.set(s, SIGNATURE_BYTES - s.length);
    return whole;
  });
}

/** More leading zeros do not happen by chance. */
const MOST_STRIPPED = 4;
