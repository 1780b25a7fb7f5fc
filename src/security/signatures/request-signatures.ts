import { createSecretKey } from "node:crypto";
import type { Maybe } from "../../envelope/index.js";
import type { RequestSigner } from "../../transport/exchange.js";
import { type KeyText, readPrivateKey } from "../signing-key.js";
import { algorithmOf, checkKey, type SignatureAlgorithm, signBase } from "./algorithms.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { MessageSigner, type MessageSigningKey } from "./sign.js";

/** Options of `requestSignatures`. */
export interface RequestSignatureOptions {
  /** Names the key to the peer. */
  readonly keyId: string;
  /** A private key as PEM (PKCS#8) or JWK, or a shared secret as bytes, at least 32 of them. */
  readonly key: KeyText | Uint8Array;
  /** Default: the only one of the key. An RSA key needs it. */
  readonly algorithm?: SignatureAlgorithm;
  /** Default: that of `httpSignatures`. */
  readonly profile?: SignatureProfile;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: () => number;
}

/** Signs requests. JSON shows the key id only. */
export interface RequestSignatures extends RequestSigner {
  readonly keyId: string;
}

/** Signs every request with a private key or a shared secret (RFC 9421), for `credentials.signer`. */
export function requestSignatures(options: RequestSignatureOptions): RequestSignatures {
  const { profile = PLAIN_SIGNATURES, now = Date.now } = options;
  const key = ownSigningKey(options);
  const signer = new MessageSigner({ profile, key, now });
  return Object.freeze({
    keyId: key.keyId,
    sign: (request: Parameters<RequestSigner["sign"]>[0]) => signer.request(request, request.body),
  });
}

function ownSigningKey({ keyId, key, algorithm }: RequestSignatureOptions): MessageSigningKey {
  const object = key instanceof Uint8Array ? createSecretKey(key) : readPrivateKey(key);
  const chosen: Maybe<SignatureAlgorithm> = algorithm ?? algorithmOf(object);
  checkKey(object, chosen);
  return { keyId, algorithm: chosen, sign: (base) => signBase(chosen, object, base) };
}
