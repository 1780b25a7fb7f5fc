import type { Maybe } from "../../../envelope/index.js";
import { keyObjectOf, type PublicKey } from "../../../security/identity/index.js";
import {
  SignatureError,
  type SignatureProfile,
  SignatureVerifier,
  type SignedRequest,
  type VerificationKey,
} from "../../../security/signatures/index.js";
import { splitTarget } from "../../../transport/request.js";
import { DidNotResolved } from "../errors.js";
import { usableKeys } from "../identity/agent-record.js";
import type { DidCache } from "../identity/did-cache.js";
import { checkedSageDid } from "../identity/did-sage.js";

/**
 * The HTTP signatures of SAGE up to 1.5 (sage-a2a-go): `keyid` is the DID without a key, and by default neither the host nor a nonce is
 * signed. This form is only verified, never written, and no server or client uses it: what it leaves open is reported.
 */
export const LEGACY_SIGNATURES: SignatureProfile = Object.freeze({
  label: "sig1",
  parameters: ["keyid", "alg", "created"] as const,
  requiredParameters: ["keyid", "created"] as const,
  algorithms: ["ed25519", "es256k"] as const,
  digest: "sha-256" as const,
  digestOfEmptyBody: true,
  request: { sign: ["@method", "@path", "@query", "content-digest"] },
  lifetimeMs: 300_000,
  skewMs: 30_000,
  eitherS: true,
});

const ALGORITHMS = { Ed25519: "ed25519", secp256k1: "es256k" } as const;

/** What a valid signature of the old form may still leave open. */
export type LegacyGap =
  /** The request could have been for another host. */
  | "host"
  /** It could be repeated. */
  | "replay"
  | "content-type";

/** A request whose old signature is valid. */
export interface LegacyVerification {
  readonly did: string;
  /** The DID URL of the key. */
  readonly key: string;
  readonly algorithm: string;
  /** Milliseconds: accepted from and until, with the skew. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Not protected by the signature. */
  readonly open: readonly LegacyGap[];
}

interface LegacyKey extends VerificationKey {
  readonly id: string;
}

const verifier = new SignatureVerifier<LegacyKey>(LEGACY_SIGNATURES);

/**
 * Verifies a request of the old form at a time. Throws `SignatureError`, or `DidNotResolved` if the DID has no record. A path with
 * escapes is refused: the old form signs it without them, so that it does not say which path it is for.
 */
export async function verifyLegacyRequest(
  request: SignedRequest,
  body: Uint8Array,
  { cache, nowMs }: { readonly cache: DidCache; readonly nowMs: number },
): Promise<LegacyVerification> {
  if (splitTarget(request.target).path.includes("%"))
    throw new SignatureError("coverage", "the path has escapes, which this form of signature does not cover");
  const order = { message: { request }, kind: "request", hasBody: body.length > 0, nowMs } as const;
  let keys: Maybe<readonly LegacyKey[]>;
  let problem: Maybe<SignatureError>;
  // `keyid` does not say which key of the DID was used.
  for (let at = 0; ; at++) {
    const lookup = async (keyId: string): Promise<Maybe<LegacyKey>> => {
      keys ??= await keysOf(keyId, cache);
      return keys[at];
    };
    try {
      const verified = await verifier.verify({ ...order, keys: lookup });
      verifier.checkBody(verified, body);
      const { key, keyId: did, nonce, fromMs, untilMs } = verified;
      return { did, key: key.id, algorithm: key.algorithm, fromMs, untilMs, open: gapsOf(request, nonce) };
    } catch (thrown) {
      if (!isOfOtherKey(thrown)) throw thrown;
      if (problem === undefined || thrown.problem === "wrong") problem = thrown;
      if (at + 1 >= (keys?.length ?? 0)) throw problem;
    }
  }
}

function isOfOtherKey(thrown: unknown): thrown is SignatureError {
  return thrown instanceof SignatureError && (thrown.problem === "algorithm" || thrown.problem === "wrong");
}

async function keysOf(keyId: string, cache: DidCache): Promise<readonly LegacyKey[]> {
  const { did } = checkedSageDid(keyId);
  const info = await cache.getAgentInfo(did);
  if (!info.active) throw new DidNotResolved("record.inactive", `${did} is deactivated`);
  return usableKeys(info).flatMap(legacyKey);
}

function legacyKey(key: PublicKey): readonly LegacyKey[] {
  const { id, kind } = key;
  return kind === "Ed25519" || kind === "secp256k1" ? [{ id, algorithm: ALGORITHMS[kind], key: keyObjectOf(key) }] : [];
}

/** The components of the one signature are in its first parentheses: it is verified, so they are there. */
function gapsOf({ headers }: SignedRequest, nonce: Maybe<string>): readonly LegacyGap[] {
  const [, covered = ""] = /\(([^)]*)\)/.exec(headers["signature-input"] ?? "") ?? [];
  const gaps: readonly (readonly [LegacyGap, boolean])[] = [
    ["host", covered.includes('"@authority"') || covered.includes('"@target-uri"')],
    ["replay", nonce !== undefined],
    ["content-type", headers["content-type"] === undefined || covered.includes('"content-type"')],
  ];
  return gaps.flatMap(([gap, closed]) => (closed ? [] : [gap]));
}
