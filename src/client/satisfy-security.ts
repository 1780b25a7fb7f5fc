import { AgentError, isObject, type JsonObject, type Maybe, type Security } from "../envelope/index.js";
import { type Credentials, credentialHeaders, isAtOrigin, type PresentedCredentials } from "./credentials.js";

/** What the card's demand comes to with these credentials. */
export interface Plan extends PresentedCredentials {
  /** A token must be had first, and is then shown as a bearer token. */
  readonly token?: Maybe<TokenRequest>;
}

/** Where a token is to be had. The address is the user's own word, or at the peer's own origin under TLS. */
export interface TokenRequest {
  readonly tokenUrl: string;
  readonly scopes: readonly string[];
}

/** The part of a plan that one scheme asks for, or why it cannot be given, with the option that would give it. */
type Satisfied = { readonly given: Partial<Plan> } | { readonly wants: string };

/** Names and alternatives of a card that an error repeats. */
const MAX_SHOWN = 5;
const MAX_NAME_CHARS = 64;

/**
 * The first alternative of the card that these credentials satisfy. A card that demands nothing gets what was configured.
 * Throws `unauthenticated`, before anything is sent, when the card demands what was not given.
 */
export function satisfy(security: Security, credentials: Credentials, url: string): Plan {
  const asConfigured: Plan = { headers: credentialHeaders(credentials) };
  const demanded = security.anyOf.filter((alternative) => Object.keys(alternative).length > 0);
  // Schemes without a demand are offers: useful to place a key by, and no reason to refuse.
  const offered = security.anyOf.length > 0 ? demanded : Object.keys(security.schemes).map((name) => ({ [name]: [] }));
  const problems: string[] = [];
  for (const alternative of offered) {
    const plan = planFor(alternative, security, credentials, url);
    if (typeof plan !== "string") return plan;
    problems.push(plan);
  }
  if (demanded.length < security.anyOf.length || demanded.length === 0) return asConfigured;
  throw new AgentError("unauthenticated", `the agent's card asks for ${wordsOf(problems)}; nothing that was given satisfies it`, {
    sent: "no",
  });
}

function wordsOf(problems: readonly string[]): string {
  const shown = [...new Set(problems)].slice(0, MAX_SHOWN);
  return `${shown.join(", or ")}${problems.length > MAX_SHOWN ? ", or others" : ""}`;
}

function planFor(
  alternative: Security["anyOf"][number],
  { schemes }: Security,
  credentials: Credentials,
  url: string,
): Plan | string {
  let headers = saidHeaders(credentials); // always; a bearer token only if it is wanted
  let query: NonNullable<PresentedCredentials["query"]> = [];
  let token: Maybe<TokenRequest>;
  const wants: string[] = [];
  for (const [name, scopes] of Object.entries(alternative)) {
    const satisfied = satisfyScheme(schemes[name], scopes, credentials, url);
    if ("wants" in satisfied) wants.push(`${shortName(name)} (${satisfied.wants})`);
    else {
      const { given } = satisfied;
      headers = mergeHeaders(headers, given.headers ?? {});
      query = [...query, ...(given.query ?? [])];
      token = given.token ?? token;
    }
  }
  return wants.length > 0 ? wants.join(" and ") : { headers, query, token };
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
    return { wants: "a TLS client certificate: credentials.tls.cert and tls.key" };
  }
  // Only the user can know what a scheme of an unknown kind takes.
  if (Object.keys(credentials.headers ?? {}).length > 0) return { given: {} };
  return { wants: "a scheme not known here: credentials.headers" };
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
/** What frames a message is not for a card to overwrite. */
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
    return { wants: "an API key in a place that cannot be used" };
  const field = name.toLowerCase();
  const said = saidHeaders(credentials);
  if (location === "header" && said[field] !== undefined) return { given: {} };
  if (location === "cookie" && said["cookie"]?.includes(`${name}=`) === true) return { given: {} };
  if (apiKey === undefined) return { wants: `an API key in the ${location} ${name}: credentials.apiKey` };
  if (location === "query") return { given: { query: [[name, apiKey]] } };
  if (location === "cookie") return { given: { headers: { cookie: `${name}=${apiKey}` } } };
  return FRAMING.has(field)
    ? { wants: "an API key in a place that cannot be used" }
    : { given: { headers: { [field]: apiKey } } };
}

function satisfyHttp({ scheme }: JsonObject, scopes: readonly string[], credentials: Credentials): Satisfied {
  if (typeof scheme === "string" && scheme.toLowerCase() === "bearer") return satisfyToken(undefined, scopes, credentials);
  if (saidHeaders(credentials)["authorization"] !== undefined) return { given: {} };
  return { wants: `HTTP ${shortName(String(scheme))} authentication: an authorization header in credentials.headers` };
}

/** The card's own token address counts only at the peer's own origin, and under TLS: nobody else may be sent the secret. */
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
    wants:
      `a token whose address, at ${named}, only the card names: a secret is not sent there. ` +
      "If it is right, give it as credentials.oauth2.tokenUrl",
  };
}

function satisfyToken(believedUrl: Maybe<string>, scopes: readonly string[], credentials: Credentials): Satisfied {
  const { oauth2, bearer } = credentials;
  const tokenUrl = oauth2?.tokenUrl ?? believedUrl;
  if (oauth2 !== undefined && tokenUrl !== undefined) return { given: { token: { tokenUrl, scopes: oauth2.scopes ?? scopes } } };
  if (bearer !== undefined) return { given: { headers: { authorization: `Bearer ${bearer}` } } };
  if (saidHeaders(credentials)["authorization"] !== undefined) return { given: {} };
  return { wants: "a bearer token: credentials.bearer, or credentials.oauth2 with its tokenUrl" };
}

function saidHeaders({ headers = {} }: Credentials): Plan["headers"] {
  return credentialHeaders({ headers });
}

function shortName(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME_CHARS));
}
