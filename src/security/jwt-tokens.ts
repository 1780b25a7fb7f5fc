import type { JWTPayload, JWTVerifyOptions } from "jose";
import {
  AgentError,
  isObject,
  type JsonObject,
  type Maybe,
  ownerOf,
  type Principal,
  RecentMap,
  type Security,
} from "../envelope/index.js";
import type { Link, RequestHead } from "../transport/exchange.js";
import type { HeadAdmission } from "./admission.js";
import { BEARER_CHALLENGE, bearerRefusal, presentedToken, presentsBearer } from "./bearer-token.js";
import { blindDigest } from "./blind-digest.js";
import { DEFAULT_KEY_LIMITS, type KeyLimits, type KeyNote, type KeySource, remoteKeys, staticKeys } from "./jwt-keys.js";
import { SECRET_ALGORITHMS, SIGNATURE_ALGORITHMS, verifyWithKeys, verifyWithSecret } from "./jwt-verify.js";

/** The issuer's public keys by URL or inline, or a secret shared with the issuer. */
export type JwtKeys = { readonly url: string } | { readonly keys: readonly JsonObject[] } | { readonly sharedSecret: string };

/** How a card declares where tokens are issued. */
export type JwtDeclaration =
  | { readonly kind: "bearer" }
  | { readonly kind: "openIdConnect"; readonly url: string }
  | { readonly kind: "clientCredentials"; readonly tokenUrl: string; readonly scopes?: { readonly [scope: string]: string } };

/** Limits of JWT verification. */
export interface JwtLimits extends KeyLimits {
  /** Size of the cache of verified tokens: verification is the most expensive step. */
  readonly verifiedTokens: number;
  /** How long a verified token stays in the cache, at most until it expires. Default: 60 s. */
  readonly verifiedMs: number;
}

/** Options of `jwtTokens`. */
export interface JwtOptions {
  /** The required `iss` claim. */
  readonly issuer: string;
  /** The required `aud` claim; one of a list suffices. */
  readonly audience: string | readonly string[];
  /** The verification keys, or where they are published. */
  readonly jwks: JwtKeys;
  /** Default: all asymmetric algorithms; with a shared secret HS256. */
  readonly algorithms?: readonly string[];
  /** Allowed clock difference to the issuer. Default: 30 s. */
  readonly clockSkewMs?: number;
  /** Scopes a caller must have, all of them. */
  readonly requiredScopes?: readonly string[];
  /** The claim with the caller's tenant, or a list of tenants that the caller may name; tokens without it are refused. */
  readonly tenantClaim?: string;
  /** The claim with the caller's name. Default: `sub`. */
  readonly subjectClaim?: string;
  /** Default: `scope`, else `scp`. */
  readonly scopeClaim?: string;
  /** How the card declares the scheme. Default: an HTTP bearer token. */
  readonly declare?: JwtDeclaration;
  /** Overrides of the default limits. */
  readonly limits?: Partial<JwtLimits>;
  /** The transport for fetching keys, for example with a private CA. */
  readonly link?: Link;
  /** Called when keys are loaded, rotated or unavailable. */
  onKeys?(note: KeyNote): void;
  /** Milliseconds since the epoch. Default: the system clock. */
  now?(): number;
}

export const DEFAULT_JWT_LIMITS: JwtLimits = Object.freeze({
  ...DEFAULT_KEY_LIMITS,
  verifiedTokens: 10_000,
  verifiedMs: 60_000,
});
const CLOCK_SKEW_MS = 30_000;
const MAX_JWT_CHARS = 8_192;
const MAX_ID_CHARS = 512;
const MIN_SECRET_CHARS = 32;

interface Verified {
  readonly principal: Principal;
  readonly untilMs: number;
}

/**
 * Authenticates by signed bearer tokens (RFC 7519). A caller is identified by issuer and subject: two issuers may use the same
 * subject, and a static token the same name.
 */
export function jwtTokens(options: JwtOptions): HeadAdmission {
  const limits: JwtLimits = { ...DEFAULT_JWT_LIMITS, ...options.limits };
  const { now = Date.now, issuer, requiredScopes = [] } = options;
  // `#` separates issuer and subject in the caller's id; an issuer never contains one (RFC 8414 §2).
  if (issuer === "" || issuer.includes("#"))
    throw new AgentError("invalid_message", "the issuer is empty or contains a #", { field: "issuer" });
  const verify = verifierOf(options, limits, now);
  const digestOf = blindDigest();
  const verified = new RecentMap<Verified>(limits.verifiedTokens);

  async function admitNew(token: string, digest: string): Promise<Principal> {
    const claims = await verify(token);
    const principal = principalOf(claims, options);
    const missing = requiredScopes.filter((scope) => !principal.scopes.includes(scope));
    if (missing.length > 0)
      throw bearerRefusal("insufficient_scope", `the token lacks the scope ${missing.join(" ")}`, requiredScopes);
    verified.set(digest, { principal, untilMs: Math.min((claims.exp ?? 0) * 1000, now() + limits.verifiedMs) });
    return principal;
  }

  function admit(request: RequestHead): Principal | Promise<Principal> {
    const token = presentedToken(request, MAX_JWT_CHARS);
    if (token === undefined)
      throw bearerRefusal(undefined, "this agent requires a signed token (JWT) in the Authorization header");
    const digest = digestOf(token);
    const before = verified.get(digest);
    return before !== undefined && now() < before.untilMs ? before.principal : admitNew(token, digest);
  }

  return Object.assign(admit, {
    open: false,
    security: declared(options.declare ?? { kind: "bearer" }, requiredScopes),
    claims: (request: RequestHead) => presentsBearer(request) && claimsIssuer(issuer, presentedToken(request, MAX_JWT_CHARS)),
    accepts: `a token by ${issuer}`,
    challenge: BEARER_CHALLENGE,
  });
}

function verifierOf(options: JwtOptions, limits: JwtLimits, now: () => number): (token: string) => Promise<JWTPayload> {
  const { jwks, issuer, audience, subjectClaim = "sub", tenantClaim, clockSkewMs = CLOCK_SKEW_MS } = options;
  const algorithms = algorithmsOf(options);
  const required = ["exp", subjectClaim, ...(tenantClaim === undefined ? [] : [tenantClaim])];
  const checks = (): JWTVerifyOptions => ({
    issuer,
    audience: typeof audience === "string" ? audience : [...audience],
    algorithms,
    clockTolerance: clockSkewMs / 1000,
    requiredClaims: required,
    currentDate: new Date(now()),
  });
  return "sharedSecret" in jwks
    ? verifyWithSecret(jwks.sharedSecret, checks)
    : verifyWithKeys(sourceOf(jwks, options, limits, now), checks);
}

function sourceOf(
  jwks: Exclude<JwtKeys, { readonly sharedSecret: string }>,
  { link, onKeys }: JwtOptions,
  limits: JwtLimits,
  now: () => number,
): KeySource {
  if ("keys" in jwks) return staticKeys(jwks.keys);
  if (!URL.canParse(jwks.url) || !/^https?:$/.test(new URL(jwks.url).protocol))
    throw new AgentError("invalid_message", "the address of the issuer's keys is not an http or https URL", {
      field: "jwks.url",
    });
  return remoteKeys({ url: jwks.url, limits, now, link, onKeys: (note) => onKeys?.(note) });
}

function algorithmsOf({ jwks, algorithms }: JwtOptions): string[] {
  const shared = "sharedSecret" in jwks;
  if (shared && jwks.sharedSecret.length < MIN_SECRET_CHARS)
    throw new AgentError("invalid_message", `a shared secret must have at least ${MIN_SECRET_CHARS} characters`);
  const supported: readonly string[] = shared ? SECRET_ALGORITHMS : SIGNATURE_ALGORITHMS;
  const wanted = algorithms ?? (shared ? ["HS256"] : SIGNATURE_ALGORITHMS);
  const unsupported = wanted.find((each) => !supported.includes(each));
  if (unsupported !== undefined || wanted.length === 0)
    throw new AgentError(
      "invalid_message",
      `${unsupported ?? "no algorithm"} is not supported; use one of ${supported.join(", ")}`,
      {
        field: "algorithms",
      },
    );
  return [...wanted];
}

function principalOf(claims: JWTPayload, { issuer, subjectClaim = "sub", tenantClaim, scopeClaim }: JwtOptions): Principal {
  const subject = textClaim(claims, subjectClaim);
  const tenants = tenantClaim === undefined ? undefined : tenantsIn(claims, tenantClaim);
  const tenant = tenantClaim === undefined || tenants !== undefined ? undefined : textClaim(claims, tenantClaim);
  const id = `${issuer}#${subject}`;
  const scopes = scopesIn(scopeClaim === undefined ? (claims["scope"] ?? claims["scp"]) : claims[scopeClaim]);
  return Object.freeze({ id, scheme: "bearer", tenant, tenants, scopes, owner: ownerOf("bearer", id, tenant) });
}

/** Undefined if the claim is not a list. */
function tenantsIn(claims: JWTPayload, name: string): Maybe<readonly string[]> {
  const value = claims[name];
  if (!Array.isArray(value)) return undefined;
  return value.filter((each): each is string => typeof each === "string" && each !== "" && each.length <= MAX_ID_CHARS);
}

function textClaim(claims: JWTPayload, name: string): string {
  const value = claims[name];
  if (typeof value !== "string" || value === "" || value.length > MAX_ID_CHARS)
    throw bearerRefusal("invalid_token", `the ${name} claim of the token is not usable as a caller name`);
  return value;
}

/** A space-separated string (RFC 8693 §4.2) or a list. */
function scopesIn(claim: unknown): readonly string[] {
  if (typeof claim === "string") return claim.split(" ").filter((each) => each !== "");
  return Array.isArray(claim) ? claim.filter((each): each is string => typeof each === "string") : [];
}

/** The unverified issuer of the token: only selects which admission checks it. */
function claimsIssuer(issuer: string, token: Maybe<string>): boolean {
  const [, payload, signature] = token?.split(".", 3) ?? [];
  if (payload === undefined || signature === undefined) return false;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return isObject(claims) && claims["iss"] === issuer;
  } catch {
    return false;
  }
}

function declared(declaration: JwtDeclaration, scopes: readonly string[]): Security {
  switch (declaration.kind) {
    case "bearer":
      return {
        schemes: { jwt: { httpAuthSecurityScheme: { scheme: "Bearer", bearerFormat: "JWT" } } },
        anyOf: [{ jwt: [] }],
      };
    case "openIdConnect":
      return {
        schemes: { openIdConnect: { openIdConnectSecurityScheme: { openIdConnectUrl: declaration.url } } },
        anyOf: [{ openIdConnect: scopes }],
      };
    case "clientCredentials": {
      const named = declaration.scopes ?? Object.fromEntries(scopes.map((scope) => [scope, ""]));
      const flows = { clientCredentials: { tokenUrl: declaration.tokenUrl, scopes: named } };
      return { schemes: { oauth2: { oauth2SecurityScheme: { flows } } }, anyOf: [{ oauth2: scopes }] };
    }
  }
}
