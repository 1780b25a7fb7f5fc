import type { Headers } from "../transport/exchange.js";

/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api-key",
  "x-auth-token",
  "x-csrf-token",
]);
/** A header with one of these words in its name is one too, whoever invented it. */
const SECRET_HEADER_WORDS = /token|secret|password|credential|api-?key/;
const SECRET_PARAMETER = /^(sig|code|auth|key|jwt|pwd|pass)$|signature|token|secret|password|credential|api[-_]?key/i;

/** Names of keys that somebody configured for the query, so that every place that shows a URL knows them. */
const configured = new Set<string>();
const MAX_CONFIGURED = 1_000;

/** From now on the values of this query parameter are shown nowhere. */
export function redactParameter(name: string): void {
  if (configured.size < MAX_CONFIGURED) configured.add(name);
}

/** The headers as a log may show them. */
export function redactHeaders(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value !== undefined && isSecretHeader(name) ? REDACTED : value]),
  );
}

/** A URL or path as a log may show it: without user and password, without fragment, and without the values of secret parameters. */
export function redactUrl(url: string): string {
  const [text = ""] = withoutUser(url).split("#");
  const mark = text.indexOf("?");
  return mark === -1 ? text : `${text.slice(0, mark)}?${redactQuery(text.slice(mark + 1))}`;
}

function redactQuery(query: string): string {
  return query
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      const name = equals === -1 ? pair : pair.slice(0, equals);
      return equals !== -1 && isSecretParameter(decoded(name)) ? `${name}=${REDACTED}` : pair;
    })
    .join("&");
}

function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETER.test(name) || configured.has(name);
}

/** By the parser that will use it, because it finds a user in more spellings than one would think of. */
function withoutUser(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

function isSecretHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return SECRET_HEADERS.has(lower) || SECRET_HEADER_WORDS.test(lower);
}

/** A name that hides behind percent signs is still that name. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
