import { createSecretKey, type KeyObject } from "node:crypto";
import {
  type Admitted,
  AgentError,
  type Awaitable,
  type Floor,
  type Maybe,
  ownerOf,
  type Principal,
  type ReplayGuard,
  type Security,
} from "../../envelope/index.js";
import type { RequestHead } from "../../transport/exchange.js";
import type { Admission, AdmissionFacts, NeedsBody } from "../admission.js";
import { type KeyText, readPublicKey } from "../signing-key.js";
import { algorithmOf, checkKey, type SignatureAlgorithm } from "./algorithms.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { SignatureError } from "./signature-error.js";
import { SignatureVerifier, type VerificationKey, type VerifiedSignature } from "./verify.js";

/** The key of a caller that signs its requests. */
export interface CallerKey {
  /** A public key as PEM or JWK, or a shared secret as bytes, at least 32 of them. */
  readonly key: KeyText | Uint8Array;
  /** Default: the only one of the key. An RSA key needs it. */
  readonly algorithm?: SignatureAlgorithm;
  /** The id of the caller. Default: the key id. */
  readonly caller?: string;
  readonly scopes?: readonly string[];
}

/** A key with the caller that it stands for. */
export interface SignerKey extends VerificationKey {
  readonly principal: Principal;
  /** What a valid signature proves. Default: nothing beyond the caller. */
  readonly proved?: Maybe<Partial<Floor>>;
}

/** Finds the key of a signature. */
export type SignerLookup = (keyId: string, head: RequestHead, facts: AdmissionFacts) => Awaitable<Maybe<SignerKey>>;

/** Options of `httpSignatures`. */
export interface HttpSignatureOptions {
  /** The keys of the callers by key id, or a function that finds them. */
  readonly keys: ReadonlyMap<string, CallerKey> | SignerLookup;
  /** Default: method, target, content type and digest, five minutes, thirty seconds of clock skew. */
  readonly profile?: SignatureProfile;
  /** The body limit, if it is smaller than that of the host. */
  readonly bodyBytes?: number;
}

const SECURITY: Security = Object.freeze({
  schemes: {
    httpSignature: { httpAuthSecurityScheme: { scheme: "Signature", description: "HTTP message signature (RFC 9421)" } },
  },
  anyOf: [{ httpSignature: [] }],
});

/**
 * Admits callers by a signature over their request (RFC 9421, RFC 9530). Coverage, time, key and signature are checked by the head, the
 * digest with the body. Each signature is accepted once.
 */
export function httpSignatures({ keys, profile = PLAIN_SIGNATURES, bodyBytes }: HttpSignatureOptions): Admission {
  const find = typeof keys === "function" ? keys : configured(keys);
  const checks = new WeakMap<SignatureProfile, ProfileChecks>();
  const checksOf = (used: SignatureProfile): ProfileChecks => {
    const known = checks.get(used);
    if (known !== undefined) return known;
    const made = { verifier: new SignatureVerifier<SignerKey>(used), refuse: refusal(used) };
    checks.set(used, made);
    return made;
  };

  const admit: Admission = (head, facts) => {
    const { verifier, refuse } = checksOf(facts.signatures ?? profile);
    const { method, headers, rawHeaders } = head;
    const order = {
      message: { request: { method, target: facts.target, headers, rawHeaders } },
      kind: "request" as const,
      hasBody: announcesBody(head),
      nowMs: facts.now(),
      keys: (keyId: string) => find(keyId, head, facts),
    };
    const complete = (verified: VerifiedSignature<SignerKey>): NeedsBody => {
      if (isSeen(facts.replay, verified)) throw refuse(replayed());
      return {
        bodyBytes,
        complete(body) {
          attempt(() => verifier.checkBody(verified, body), refuse);
          return addOnce(facts.replay, verified, refuse);
        },
      };
    };
    const verified = attempt(() => verifier.verify(order), refuse);
    if (!(verified instanceof Promise)) return complete(verified);
    return verified.then(complete, (thrown: unknown) => {
      throw refuse(thrown);
    });
  };
  return Object.assign(admit, {
    open: false,
    security: SECURITY,
    claims: ({ headers }: RequestHead) => headers["signature-input"] !== undefined,
    accepts: "an HTTP message signature",
  });
}

interface ProfileChecks {
  readonly verifier: SignatureVerifier<SignerKey>;
  refuse(thrown: unknown): unknown;
}

function isSeen(replay: ReplayGuard, { key, nonce }: VerifiedSignature<SignerKey>): boolean {
  return nonce !== undefined && replay.seen(key.principal.owner, nonce);
}

/** The signature is used up from here on. */
function addOnce(
  replay: ReplayGuard,
  { key, nonce, untilMs, fromMs }: VerifiedSignature<SignerKey>,
  refuse: (thrown: unknown) => unknown,
): Awaitable<Admitted> {
  const { principal, proved } = key;
  if (nonce === undefined) throw refuse(new SignatureError("missing_parameter", "the signature has no parameter nonce"));
  const admitted: Admitted = { principal, proved };
  const isNew = (added: boolean): Admitted => {
    if (!added) throw refuse(replayed());
    return admitted;
  };
  const added = replay.add(principal.owner, nonce, untilMs, fromMs);
  return added instanceof Promise ? added.then(isNew) : isNew(added);
}

function replayed(): SignatureError {
  return new SignatureError("replayed", "this signature was used before");
}

function attempt<T>(run: () => T, refuse: (thrown: unknown) => unknown): T {
  try {
    return run();
  } catch (thrown) {
    throw refuse(thrown);
  }
}

/** A wrong signature is a 401 that says what would be accepted (RFC 9421 §5.1). Other errors keep their code. */
function refusal({ label, parameters, request, tag }: SignatureProfile): (thrown: unknown) => unknown {
  const components = request.sign.map((each) => (typeof each === "string" ? each : each.component));
  const list = components.map((each) => (each.startsWith('"') ? each : `"${each}"`)).join(" ");
  const flags = parameters.filter((name) => name !== "tag").map((name) => `;${name}`);
  const head = { "accept-signature": `${label}=(${list})${flags.join("")}${tag === undefined ? "" : `;tag="${tag}"`}` };
  return (thrown) => {
    if (!(thrown instanceof SignatureError)) return thrown;
    return new AgentError("unauthenticated", thrown.message, { detail: { signature: thrown.problem }, head });
  };
}

/** HTTP/2 needs neither field, so a body can come all the same: it is then refused when it is there. */
function announcesBody({ headers }: RequestHead): boolean {
  const { "content-length": length } = headers;
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

function configured(keys: ReadonlyMap<string, CallerKey>): SignerLookup {
  if (keys.size === 0) throw new AgentError("invalid_message", "no key is configured, so every caller would be refused");
  const signers = new Map<string, SignerKey>();
  for (const [keyId, { key, algorithm, caller = keyId, scopes = [] }] of keys) {
    const object = keyObject(key);
    const chosen = algorithm ?? algorithmOf(object);
    checkKey(object, chosen);
    const principal = Object.freeze({ id: caller, scheme: "signature" as const, scopes, owner: ownerOf("signature", caller) });
    signers.set(keyId, { algorithm: chosen, key: object, principal });
  }
  return (keyId) => signers.get(keyId);
}

/** Of a private key only the public half is kept. */
function keyObject(key: KeyText | Uint8Array): KeyObject {
  if (key instanceof Uint8Array) return createSecretKey(key);
  return readPublicKey(key);
}
