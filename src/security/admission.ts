import { AgentError, ANONYMOUS, ownerOf, type Principal, type Security } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";
import { BEARER_CHALLENGE, bearerRefusal, presentedToken, presentsBearer } from "./bearer-token.js";
import { checkSecrets, MAX_TOKEN_CHARS, type SecretKind, secretHolders } from "./secret-holders.js";

/**
 * Who is it? Throws `unauthenticated`, `forbidden`, or `unavailable` when it cannot be found out now. Any function will do;
 * the members say what cards, the bind rule and `anyOf` need.
 */
export interface Admission {
  (request: HttpRequest): Principal | Promise<Principal>;
  /** True if it lets everybody in. */
  readonly open?: boolean;
  readonly security?: Security;
  /** True if the request brings the credential this is about. Absent: it judges every request. */
  claims?(request: HttpRequest): boolean;
  /** The credential in words. */
  readonly accepts?: string;
  /** Its `WWW-Authenticate` challenge, where HTTP has one. */
  readonly challenge?: string;
}

const NO_SECURITY: Security = Object.freeze({ schemes: {}, anyOf: [] });
const BEARER: Security = Object.freeze({
  schemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  anyOf: [{ bearer: [] }],
});
const TOKENS: SecretKind = {
  word: "token",
  allowed: /^[A-Za-z0-9\-._~+/]+=*$/, // RFC 6750 §2.1: what can stand in the header at all
  principal: (name) => ({ id: name, scheme: "bearer", scopes: [], owner: ownerOf("bearer", name) }),
};

/** Everybody is the one anonymous owner. */
export function openAdmission(): Admission {
  return Object.assign(() => ANONYMOUS, { open: true, security: NO_SECURITY });
}

/** Static bearer tokens by name. */
export function bearerTokens(tokens: ReadonlyMap<string, string>): Admission {
  const holderOf = secretHolders(tokens, TOKENS);

  function admit(request: HttpRequest): Principal {
    const token = presentedToken(request, MAX_TOKEN_CHARS);
    if (token === undefined) throw bearerRefusal(undefined, "this agent needs a bearer token in the Authorization header");
    const holder = holderOf(token);
    if (holder === undefined) throw bearerRefusal("invalid_token", "the bearer token is not known here");
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
 * Tokens out of a file or an environment variable: one `name=token` per line or comma, `#` starts a comment line. Errors
 * name the entry by its number and never show it.
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

/** What a card says about getting in. An admission of unknown kind says nothing. */
export function describeSecurity(admission: Admission): Security {
  return admission.security ?? NO_SECURITY;
}
