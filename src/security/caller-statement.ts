import { AgentError, type Maybe, type Principal } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import type { Admission } from "./admission.js";
import type { CardSigner } from "./card-signature.js";
import { canonicalJson } from "./json-canonical.js";
import { type JwtOptions, jwtTokens } from "./jwt-tokens.js";

/**
 * In this header a gateway says for whom it calls: a JWT (RFC 7519) signed by one of the keys it signs its cards with. `iss`
 * is the gateway's public address, `sub` the owner as the gateway knows it, `aud` the origin of the agent that is called, and
 * it holds for a minute. It lets nobody in: it counts only beside the gateway's own credential.
 */
export const CALLER_HEADER = "koine-caller";

export interface StatementOptions {
  /** One of the keys that sign the gateway's cards: readers find its public half where they find those. */
  readonly signer: CardSigner;
  /** The gateway's public address. */
  readonly issuer: string;
  /** How long a statement holds. Default: a minute. */
  readonly lifeMs?: Maybe<number>;
}

const STATEMENT_MS = 60_000;

/** Says who the caller is, to one audience. */
export type StateCaller = (caller: Principal, audience: string) => string;

export function callerStatements({ signer, issuer, lifeMs = STATEMENT_MS }: StatementOptions, ids: StatementIds): StateCaller {
  return ({ owner, scheme }, audience) => {
    const iat = Math.floor(ids.now() / 1000);
    const exp = iat + Math.ceil(lifeMs / 1000);
    const claims = canonicalJson({ iss: issuer, sub: owner, aud: audience, iat, exp, jti: ids.newId(), scheme });
    const { protected: header, signature } = signer.sign(claims);
    return `${header}.${Buffer.from(claims).toString("base64url")}.${signature}`;
  };
}

export interface StatementIds {
  now(): number;
  newId(): string;
}

/** Whose statements count: a gateway's public address, its keys, and our own origin as the gateway calls it. */
export type TrustedGateway = Pick<JwtOptions, "issuer" | "audience" | "jwks" | "clockSkewMs" | "now" | "link">;

/**
 * For an agent behind a gateway that it trusts: lets in whom the admission lets in and, where the one who got in is the
 * gateway and says for whom it calls, takes that one for the caller. A statement by anybody else is refused, not ignored.
 */
export function trustGateway(admission: Admission, isGateway: (who: Principal) => boolean, trusted: TrustedGateway): Admission {
  const stated = jwtTokens(trusted);
  async function admit(request: HttpRequest): Promise<Principal> {
    const who = await admission(request);
    const statement = request.headers[CALLER_HEADER];
    if (statement === undefined) return who;
    if (!isGateway(who))
      throw new AgentError("forbidden", "only the gateway may say for whom it calls", { field: CALLER_HEADER });
    return readStatement(stated, statement);
  }
  const { open, security, claims, accepts, challenge } = admission;
  const known = { open, security, claims, accepts, challenge };
  return Object.assign(admit, Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)));
}

async function readStatement(stated: Admission, statement: string): Promise<Principal> {
  try {
    return await stated(makeRequest({ method: "GET", url: "/", headers: { authorization: `Bearer ${statement}` } }));
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    const why = code === "unauthenticated" ? `the gateway's statement is not right: ${message}` : message;
    throw new AgentError(code, why, { field: CALLER_HEADER, cause: thrown });
  }
}
