import { hash, randomBytes } from "node:crypto";
import { AgentError, ANONYMOUS, ownerOf, type Principal, type Security } from "../envelope/index.js";
import type { Request } from "../transport/exchange.js";

/** Who is it? Throws `unauthenticated` or `forbidden`. Any function will do; the two members say what cards and the bind rule need. */
export interface Admission {
  (request: Request): Principal | Promise<Principal>;
  /** True if it lets everybody in. */
  readonly open?: boolean;
  readonly security?: Security;
}

/** A token below this length can be guessed. */
export const MIN_TOKEN_CHARS = 16;
/** A presented token above this length is not hashed. */
const MAX_TOKEN_CHARS = 4_096;
const MAX_TOKENS = 10_000;

const NO_SECURITY: Security = Object.freeze({ schemes: {}, anyOf: [] });
const BEARER: Security = Object.freeze({
  schemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
  anyOf: [{ bearer: [] }],
});
const CHALLENGE = Object.freeze({ "www-authenticate": 'Bearer realm="koine"' });

/** Everybody is the one anonymous owner. */
export function openAdmission(): Admission {
  return Object.assign(() => ANONYMOUS, { open: true, security: NO_SECURITY });
}

/**
 * Static bearer tokens by name. Only digests under a key of this process are kept and compared: nobody outside can
 * compute one, so the time a lookup takes tells nothing, and nothing here can print a token.
 */
export function bearerTokens(tokens: ReadonlyMap<string, string>): Admission {
  checkTokens(tokens);
  const blind = randomBytes(12).toString("base64"); // with a usual token still one block of SHA-256
  const digestOf = (token: string): string => hash("sha256", blind + token, "base64");
  const holders = new Map<string, Principal>();
  for (const [name, token] of tokens) {
    const digest = digestOf(token);
    if (holders.has(digest)) throw new AgentError("invalid_message", `the token of "${name}" also belongs to another name`);
    holders.set(digest, bearerPrincipal(name));
  }

  function admit(request: Request): Principal {
    const token = presentedToken(request.headers["authorization"]);
    if (token === undefined) throw unauthenticated("this agent needs a bearer token in the Authorization header");
    const holder = holders.get(digestOf(token));
    if (holder === undefined) throw unauthenticated("the bearer token is not known here");
    return holder;
  }
  return Object.assign(admit, { open: false, security: BEARER });
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
  checkTokens(tokens);
  return tokens;
}

/** What a card says about getting in. An admission of unknown kind says nothing. */
export function describeSecurity(admission: Admission): Security {
  return admission.security ?? NO_SECURITY;
}

function checkTokens(tokens: ReadonlyMap<string, string>): void {
  if (tokens.size === 0) throw new AgentError("invalid_message", "no token is configured, so nobody could get in");
  if (tokens.size > MAX_TOKENS) throw new AgentError("too_large", `at most ${MAX_TOKENS} tokens are kept`);
  for (const [name, token] of tokens) {
    if (name === "") throw new AgentError("invalid_message", "a token has no name");
    if (token.length < MIN_TOKEN_CHARS)
      throw new AgentError("invalid_message", `the token of "${name}" is shorter than ${MIN_TOKEN_CHARS} characters`);
    // RFC 6750 §2.1: what can stand in the header at all.
    if (token.length > MAX_TOKEN_CHARS || !/^[A-Za-z0-9\-._~+/]+=*$/.test(token))
      throw new AgentError("invalid_message", `the token of "${name}" has characters a header cannot carry, or is too long`);
  }
}

/** RFC 9110 §11.1: the scheme in any case, then the token. */
function presentedToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8 || header.length > MAX_TOKEN_CHARS || header.charCodeAt(6) !== 0x20)
    return undefined;
  const scheme = header.slice(0, 6);
  if (scheme !== "Bearer" && scheme.toLowerCase() !== "bearer") return undefined;
  return header.slice(7).trim();
}

function bearerPrincipal(name: string): Principal {
  return Object.freeze({ id: name, scheme: "bearer", scopes: [], owner: ownerOf("bearer", name) });
}

function unauthenticated(message: string): AgentError {
  return new AgentError("unauthenticated", message, { head: CHALLENGE });
}
