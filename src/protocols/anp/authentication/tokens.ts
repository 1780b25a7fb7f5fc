import { isObject, type Maybe } from "../../../envelope/index.js";
import type { ProvenPeer } from "../../../security/admission.js";
import { TextMac } from "../../../security/hashes.js";
import { readJson } from "../../../transport/json.js";
import { TIMES } from "../wire.js";

const HEADER = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");
const MAX_TOKEN_CHARS = 2_048;
const CLOCK_TOLERANCE_MS = 5_000;
const CLAIM_LIMITS = { jsonDepth: 2, jsonValues: 16 } as const;

/** Access tokens for peers that proved their DID: a JWT of this process. Another process refuses it, and the peer signs again. */
export class AccessTokens {
  readonly #mac = new TextMac();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  issue({ did, keyId }: ProvenPeer): string {
    const iat = Math.floor(this.#now() / 1_000);
    const claims = { sub: did, kid: keyId, iat, exp: iat + TIMES.tokenMs / 1_000 };
    const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    return `${signed}.${this.#mac.of(signed)}`;
  }

  /** The peer that a token was issued to; undefined if it is not one of these, or has expired. */
  holderOf(token: string): Maybe<ProvenPeer> {
    if (token.length > MAX_TOKEN_CHARS || !token.startsWith(`${HEADER}.`)) return undefined;
    const end = token.lastIndexOf(".");
    if (!this.#mac.matches(token.slice(0, end), token.slice(end + 1))) return undefined;
    const claims = readJson(Buffer.from(token.slice(HEADER.length + 1, end), "base64url"), CLAIM_LIMITS);
    if (!isObject(claims)) return undefined;
    const { sub, kid, exp } = claims;
    if (typeof sub !== "string" || typeof kid !== "string" || typeof exp !== "number") return undefined;
    return this.#now() < exp * 1_000 + CLOCK_TOLERANCE_MS ? { did: sub, keyId: kid } : undefined;
  }
}

/** Whether a token has the form of these, whoever issued it. */
export function isAccessToken(token: string): boolean {
  return token.startsWith(`${HEADER}.`);
}

/** A token of `Authorization: Bearer`. */
export function bearerIn(authorization: Maybe<string>): Maybe<string> {
  return authorization === undefined ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** How a token is handed out: the header of the specification, and that of clients of before it, which look for this spelling. */
export function tokenHead(token: string): { readonly [name: string]: string } {
  return {
    "authentication-info": `access_token="${token}", token_type="Bearer", expires_in=${TIMES.tokenMs / 1_000}`,
    Authorization: `Bearer ${token}`,
  };
}
