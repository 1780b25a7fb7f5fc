import { AgentError, type Awaitable, type Maybe, type Principal } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { type Admission, type AdmissionOutcome, admittedOf, type HeadAdmission } from "./admission.js";
import type { CardSigner } from "./card-signature.js";
import { canonicalJson } from "./json-canonical.js";
import { type JwtOptions, jwtTokens } from "./jwt-tokens.js";
import { mapDecision } from "./map-decision.js";

/**
 * Header in which a gateway states its caller: a JWT (RFC 7519) signed with one of its card keys. `iss` is the gateway's public
 * address, `sub` the owner as the gateway knows it, `aud` the origin of the called agent; it is valid for a minute. It admits nobody:
 * it only counts together with the gateway's own credential.
 */
export const CALLER_HEADER = "koine-caller";

/** Options of `callerStatements`. */
export interface StatementOptions {
  /** One of the gateway's card signing keys, whose public half is published with the cards. */
  readonly signer: CardSigner;
  /** The gateway's public address. */
  readonly issuer: string;
  /** Lifetime of a statement. Default: one minute. */
  readonly lifeMs?: Maybe<number>;
}

const STATEMENT_MS = 60_000;

/** Creates a statement about the caller for one audience. */
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

/** A gateway whose statements are accepted: its public address, its keys, and our own origin as audience. */
export type TrustedGateway = Pick<JwtOptions, "issuer" | "audience" | "jwks" | "clockSkewMs" | "now" | "link">;

/**
 * For an agent behind a trusted gateway: admits the callers of `admission` and, if the caller is the gateway and states its own
 * caller, uses that one as the principal. Statements by anyone else are refused, not ignored.
 */
export function trustGateway(
  admission: HeadAdmission,
  isGateway: (caller: Principal) => boolean,
  trusted: TrustedGateway,
): HeadAdmission;
export function trustGateway(admission: Admission, isGateway: (caller: Principal) => boolean, trusted: TrustedGateway): Admission;
export function trustGateway(
  admission: Admission,
  isGateway: (caller: Principal) => boolean,
  trusted: TrustedGateway,
): Admission {
  const verifyStatement = jwtTokens(trusted);

  function statedCaller(head: RequestHead, outcome: AdmissionOutcome): Awaitable<AdmissionOutcome> {
    const statement = head.headers[CALLER_HEADER];
    if (statement === undefined) return outcome;
    if (!isGateway(admittedOf(outcome).principal))
      throw new AgentError("forbidden", "only the gateway may state its caller", { field: CALLER_HEADER });
    return readStatement(verifyStatement, statement);
  }

  const admit: Admission = (head, facts) =>
    mapDecision(
      () => admission(head, facts),
      (outcome) => statedCaller(head, outcome),
    );
  return Object.assign(admit, { ...admission });
}

async function readStatement(verifyStatement: HeadAdmission, statement: string): Promise<Principal> {
  try {
    return await verifyStatement(makeRequest({ method: "GET", url: "/", headers: { authorization: `Bearer ${statement}` } }));
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    const reason = code === "unauthenticated" ? `the gateway's caller statement is invalid: ${message}` : message;
    throw new AgentError(code, reason, { field: CALLER_HEADER, cause: thrown });
  }
}
