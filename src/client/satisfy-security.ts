import { AgentError, isObject, type JsonObject, type Maybe, type Security } from "../envelope/index.js";
import { type Credentials, credentialHeaders, isAtOrigin, type PresentedCredentials } from "./credentials.js";

/** How the card's security requirement is satisfied with these credentials. */
export interface Plan extends PresentedCredentials {
  /** A token that must be fetched first, and is then sent as a bearer token. */
  readonly token?: Maybe<TokenRequest>;
}

/** A token endpoint: configured by the user, or at the peer's own origin over TLS. */
export interface TokenRequest {
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

/** The part of a plan that one scheme requires, or what is missing, with the option that provides it. */
type Satisfied = { readonly given: Partial<Plan> } | { readonly missing: string };

/** The number of alternatives of a card that an error lists. */
const MAX_SHOWN = 5;
const MAX_NAME_CHARS = 64;

/**
 * Picks the first alternative of the card that these credentials satisfy. A card without requirements gets the configured
 * headers. Throws `unauthenticated`, before anything is sent, if no alternative can be satisfied.
 */
export function satisfy(security: Security, credentials: Credentials, url: string): Plan {
  const asConfigured: Plan = { headers: credentialHeaders(credentials), signer: credentials.signer };
  const required = security.anyOf.filter((alternative) => Object.keys(alternative).length > 0);
  // Schemes without a requirement are optional: they say where a key goes, and are never a reason to fail.
  const offered = security.anyOf.length > 0 ? required : Object.keys(security.schemes).map((name) => ({ [name]: [] }));
  const problems: string[] = [];
  for (const alternative of offered) {
    const plan = planFor(alternative, security, credentials, url);
    if (typeof plan !== "string") return plan;
    problems.push(plan);
  }
  if (required.length < security.anyOf.length || required.length === 0) return asConfigured;
  throw new AgentError(
    "unauthenticated",
    `the agent's card requires ${listOf(problems)}; the configured credentials do not satisfy it`,
    {
      sent: "no",
    },
  );
}

function listOf(problems: readonly string[]): string {
  const shown = [...new Set(problems)].slice(0, MAX_SHOWN);
  return `${shown.join(", or ")}${problems.length > MAX_SHOWN ? ", or others" : ""}`;
}

function planFor(
  alternative: Security["anyOf"][number],
  { schemes }: Security,
  credentials: Credentials,
  url: string,
): Plan | string {
  let headers = configuredHeaders(credentials); // always; a bearer token only if it is required
  let query: NonNullable<PresentedCredentials["query"]> = [];
  let token: Maybe<TokenRequest>;
  const missing: string[] = [];
  for (const [name, scopes] of Object.entries(alternative)) {
    const satisfied = satisfyScheme(schemes[name], scopes, credentials, url);
    if ("missing" in satisfied) missing.push(`${shortName(name)} (${satisfied.missing})`);
    else {
      const { given } = satisfied;
      headers = mergeHeaders(headers, given.headers ?? {});
      query = [...query, ...(given.query ?? [])];
      token = given.token ?? token;
    }
  }
  return missing.length > 0 ? missing.join(" and ") : { headers, query, token, signer: credentials.signer };
}

function mergeHeaders(before: Plan["headers"], added: Plan["headers"]): Plan["headers"] {
  const { cookie } = before;
  const joined = cookie !== undefined && added["cookie"] !== undefined ? { cookie: `${cookie}; ${added["cookie"]}` } : {};
  return { ...before, ...added, ...joined };
}

function satisfyScheme(scheme: Maybe<JsonObject>, scopes: readonly string[], credentials: Credentials, url: string): Satisfied {
  const { apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme } =
    scheme ?? {};
  if (isObject(apiKeySecurityScheme)) return satisfyApiKey(apiKeySecurityScheme, credentials);
  if (isObject(httpAuthSecurityScheme)) return satisfyHttp(httpAuthSecurityScheme, scopes, credentials);
  if (isObject(oauth2SecurityScheme)) return satisfyOauth2(oauth2SecurityScheme, scopes, credentials, url);
  if (isObject(openIdConnectSecurityScheme)) return satisfyToken(undefined, scopes, credentials);
  if (isObject(mtlsSecurityScheme)) {
    const { cert, key } = credentials.tls ?? {};
    if (cert !== undefined && key !== undefined) return { given: {} };
    return { missing: "a TLS client certificate: credentials.tls.cert and tls.key" };
  }
  // Only the user knows what an unknown scheme takes.
  if (Object.keys(credentials.headers ?? {}).length > 0) return { given: {} };
  return { missing: "an unknown scheme: credentials.headers" };
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
/** Framing headers, which a card must not overwrite. */
const FRAMING: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function satisfyApiKey(scheme: JsonObject, credentials: Credentials): Satisfied {
  const { location, name } = scheme;
  const { apiKey } = credentials;
  if (
    typeof name !== "string" ||
    !HEADER_NAME.test(name) ||
    (location !== "header" && location !== "query" && location !== "cookie")
  )
    return { missing: "an API key in an unsupported location" };
  const field = name.toLowerCase();
  const configured = configuredHeaders(credentials);
  if (location === "header" && configured[field] !== undefined) return { given: {} };
  if (location === "cookie" && configured["cookie"]?.includes(`${name}=`) === true) return { given: {} };
  if (apiKey === undefined) return { missing: `an API key in the ${location} ${name}: credentials.apiKey` };
  if (location === "query") return { given: { query: [[name, apiKey]] } };
  if (location === "cookie") return { given: { headers: { cookie: `${name}=${apiKey}` } } };
  return FRAMING.has(field) ? { missing: "an API key in an unsupported location" } : { given: { headers: { [field]: apiKey } } };
}

function satisfyHttp({ scheme }: JsonObject, scopes: readonly string[], credentials: Credentials): Satisfied {
  if (typeof scheme === "string" && scheme.toLowerCase() === "bearer") return satisfyToken(undefined, scopes, credentials);
  if (typeof scheme === "string" && scheme.toLowerCase() === "signature")
    return credentials.signer === undefined ? { missing: "an HTTP message signature: credentials.signer" } : { given: {} };
  if (configuredHeaders(credentials)["authorization"] !== undefined) return { given: {} };
  return { missing: `HTTP ${shortName(String(scheme))} authentication: an authorization header in credentials.headers` };
}

/** The card's token endpoint is used only at the peer's own origin and over TLS: the secret is sent nowhere else. */
function satisfyOauth2(scheme: JsonObject, scopes: readonly string[], credentials: Credentials, url: string): Satisfied {
  const flows = isObject(scheme["flows"]) ? scheme["flows"] : {};
  const flow = isObject(flows["clientCredentials"]) ? flows["clientCredentials"] : {};
  const tokenUrl = flow["tokenUrl"];
  if (typeof tokenUrl !== "string" || credentials.oauth2 === undefined || credentials.oauth2.tokenUrl !== undefined)
    return satisfyToken(undefined, scopes, credentials);
  if (/^https:/i.test(tokenUrl) && isAtOrigin(tokenUrl, url)) return satisfyToken(tokenUrl, scopes, credentials);
  if (credentials.bearer !== undefined) return satisfyToken(undefined, scopes, credentials);
  const named = shortName(URL.canParse(tokenUrl) ? new URL(tokenUrl).origin : "no URL");
  return {
    missing:
      `a token from an endpoint at ${named} that only the card names; the client secret is not sent there. ` +
      "If the endpoint is right, set credentials.oauth2.tokenUrl",
  };
}

function satisfyToken(cardTokenUrl: Maybe<string>, scopes: readonly string[], credentials: Credentials): Satisfied {
  const { oauth2, bearer } = credentials;
  const tokenUrl = oauth2?.tokenUrl ?? cardTokenUrl;
  if (oauth2 !== undefined && tokenUrl !== undefined) return { given: { token: { tokenUrl, scopes: oauth2.scopes ?? scopes } } };
  if (bearer !== undefined) return { given: { headers: { authorization: `Bearer ${bearer}` } } };
  if (configuredHeaders(credentials)["authorization"] !== undefined) return { given: {} };
  return { missing: "a bearer token: credentials.bearer, or credentials.oauth2 with its tokenUrl" };
}

function configuredHeaders({ headers = {} }: Credentials): Plan["headers"] {
  return credentialHeaders({ headers });
}

function shortName(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME_CHARS));
}
