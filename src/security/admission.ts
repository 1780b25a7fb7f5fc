import {
  type Admitted,
  AgentError,
  ANONYMOUS,
  type Awaitable,
  type Maybe,
  ownerOf,
  type Principal,
  type ReplayGuard,
  type Security,
} from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { BEARER_CHALLENGE, bearerRefusal, presentedToken, presentsBearer } from "./bearer-token.js";
import type { Resolver } from "./identity/index.js";
import { checkSecrets, MAX_TOKEN_CHARS, type SecretKind, secretHolders } from "./secret-holders.js";
import type { SignatureProfile } from "./signatures/profile.js";

/**
 * Authenticates a request by its head, before the body is read. Throws `unauthenticated`, `forbidden`, or `unavailable` if the check
 * is not possible now. Any function qualifies; the members describe it for cards, the bind rule and `anyOf`.
 */
export interface Admission {
  (head: RequestHead, facts: AdmissionFacts): Awaitable<AdmissionOutcome | NeedsBody>;
  /** Admits a peer that proved its DID inside a protocol. Absent: no peer is admitted that way. */
  identify?(peer: ProvenPeer): Awaitable<AdmissionOutcome>;
  /** True if it admits everyone. */
  readonly open?: boolean;
  readonly security?: Security;
  /** Whether the request presents this kind of credential. Absent: applies to every request. */
  claims?(head: RequestHead): boolean;
  /** Description of the credential, for error messages. */
  readonly accepts?: string;
  /** Its `WWW-Authenticate` challenge, if HTTP defines one. */
  readonly challenge?: string;
}

/** An admission that decides by the head alone. */
export interface HeadAdmission extends Admission {
  (head: RequestHead): Awaitable<Principal>;
}

/** The caller, alone or with what its request proved. */
export type AdmissionOutcome = Principal | Admitted;

/** The head alone does not decide: a digest or a signed content is checked once the body has arrived. */
export interface NeedsBody {
  /** The body limit, if it is smaller than that of the host. */
  readonly bodyBytes?: Maybe<number>;
  /** Decides with the complete body, before anything parses it. Throws like the admission. */
  complete(body: Uint8Array): Awaitable<AdmissionOutcome>;
}

/** What an admission cannot read from the request. */
export interface AdmissionFacts {
  /** The URL that a signature must cover: the public address with path and query. */
  readonly target: string;
  /** Accepts each signed message once. */
  readonly replay: ReplayGuard;
  /** Finds the documents of callers' DIDs. */
  readonly resolver: Resolver;
  /** How the addressed protocol signs its requests. Default: as the admission is configured. */
  readonly signatures?: Maybe<SignatureProfile>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A peer that proved its identity inside a protocol. */
export interface ProvenPeer {
  readonly did: string;
  /** The DID URL of the key that it proved to hold. */
  readonly keyId: string;
}

export function admittedOf(outcome: AdmissionOutcome): Admitted {
  return "principal" in outcome ? outcome : { principal: outcome };
}

export function needsBody(decision: AdmissionOutcome | NeedsBody): decision is NeedsBody {
  return "complete" in decision;
}

const NO_SECURITY: Security = Object.freeze({ schemes: {}, anyOf: [] });
const BEARER: Security = Object.freeze({
  schemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  anyOf: [{ bearer: [] }],
});
const TOKENS: SecretKind = {
  noun: "token",
  allowed: /^[A-Za-z0-9\-._~+/]+=*$/, // RFC 6750 §2.1: the token syntax of the header
  principal: (name) => ({ id: name, scheme: "bearer", scopes: [], owner: ownerOf("bearer", name) }),
};

/** Admits everyone: as the anonymous caller, or under the DID that was proved inside a protocol. */
export function openAdmission(): HeadAdmission {
  return Object.assign(() => ANONYMOUS, { open: true, security: NO_SECURITY, identify: didPrincipal });
}

function didPrincipal({ did }: ProvenPeer): Principal {
  return { id: did, scheme: "did", scopes: [], owner: ownerOf("did", did) };
}

/** Static bearer tokens by name. */
export function bearerTokens(tokens: ReadonlyMap<string, string>): HeadAdmission {
  const holderOf = secretHolders(tokens, TOKENS);

  function admit(request: RequestHead): Principal {
    const token = presentedToken(request, MAX_TOKEN_CHARS);
    if (token === undefined) throw bearerRefusal(undefined, "this agent requires a bearer token in the Authorization header");
    const holder = holderOf(token);
    if (holder === undefined) throw bearerRefusal("invalid_token", "unknown bearer token");
    return holder;
  }
  return Object.assign(admit, {
    open: false,
    security: BEARER,
    claims: presentsBearer,
    accepts: "a bearer token",
    challenge: BEARER_CHALLENGE,
  });
}

/**
 * Parses tokens from a file or an environment variable: one `name=token` per line or comma, `#` starts a comment line. Errors
 * identify the entry by its number and never show it.
 */
export function parseTokens(text: string): ReadonlyMap<string, string> {
  const tokens = new Map<string, string>();
  for (const [index, line] of text.split(/[\n,]/).entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const equals = entry.indexOf("=");
    const name = entry.slice(0, equals).trim();
    if (equals < 1 || name === "")
      throw new AgentError("invalid_message", `entry ${index + 1} of the tokens is not of the form name=token`);
    if (tokens.has(name)) throw new AgentError("invalid_message", `entry ${index + 1} of the tokens repeats the name "${name}"`);
    tokens.set(name, entry.slice(equals + 1).trim());
  }
  checkSecrets(tokens, TOKENS);
  return tokens;
}

/** The security section of a card. Empty for a custom admission without a description. */
export function describeSecurity(admission: Admission): Security {
  return admission.security ?? NO_SECURITY;
}
