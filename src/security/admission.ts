import { AgentError, ANONYMOUS, ownerOf, type Principal, type Security } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";
import { BEARER_CHALLENGE, bearerRefusal, presentedToken, presentsBearer } from "./bearer-token.js";
import { checkSecrets, MAX_TOKEN_CHARS, type SecretKind, secretHolders } from "./secret-holders.js";

/**
 * Authenticates a request. Throws `unauthenticated`, `forbidden`, or `unavailable` if the check is not possible now. Any function
 * qualifies; the members describe it for cards, the bind rule and `anyOf`.
 */
export interface Admission {
  (request: HttpRequest): Principal | Promise<Principal>;
  /** True if it admits everyone. */
  readonly open?: boolean;
  readonly security?: Security;
  /** Whether the request presents this kind of credential. Absent: applies to every request. */
  claims?(request: HttpRequest): boolean;
  /** Description of the credential, for error messages. */
  readonly accepts?: string;
  /** Its `WWW-Authenticate` challenge, if HTTP defines one. */
  readonly challenge?: string;
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

/** Admits everyone as the anonymous caller. */
export function openAdmission(): Admission {
  return Object.assign(() => ANONYMOUS, { open: true, security: NO_SECURITY });
}

/** Static bearer tokens by name. */
export function bearerTokens(tokens: ReadonlyMap<string, string>): Admission {
  const holderOf = secretHolders(tokens, TOKENS);

  function admit(request: HttpRequest): Principal {
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
