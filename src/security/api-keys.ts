import { AgentError, type Maybe, ownerOf, type Principal } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import type { HeadAdmission } from "./admission.js";
import { type SecretKind, secretHolders } from "./secret-holders.js";

/** Where callers send their API key. */
export interface ApiKeyLocation {
  readonly location: "header" | "query" | "cookie";
  readonly name: string;
}

/** Header and cookie names (RFC 9110 §5.6.2); in a query some of these characters are escaped and get decoded. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const KEYS: SecretKind = {
  noun: "key",
  allowed: /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/, // RFC 6265 §4.1.1: cookie syntax, which is also valid in a header
  principal: (name) => ({ id: name, scheme: "key", scopes: [], owner: ownerOf("key", name) }),
};

/** Static API keys by holder name. A request with two keys is refused as ambiguous. */
export function apiKeys(keys: ReadonlyMap<string, string>, keyLocation: ApiKeyLocation): HeadAdmission {
  const { location, name } = keyLocation;
  if (!NAME.test(name))
    throw new AgentError("invalid_message", `${JSON.stringify(name.slice(0, 100))} is not a valid API key name`);
  const holderOf = secretHolders(keys, KEYS);
  const read = READERS[location](name);
  const accepts = `an API key in the ${location} ${LOCATION_TEXT[location]} ${name}`;

  function admit(request: RequestHead): Principal {
    const key = read(request);
    if (key === undefined) throw new AgentError("unauthenticated", `this agent requires ${accepts}`);
    const holder = key === AMBIGUOUS ? undefined : holderOf(key);
    if (holder === undefined) throw new AgentError("unauthenticated", "unknown API key");
    return holder;
  }
  return Object.assign(admit, {
    open: false,
    security: {
      schemes: { apiKey: { apiKeySecurityScheme: { location, name } } },
      anyOf: [{ apiKey: [] }],
    },
    claims: (request: RequestHead) => read(request) !== undefined,
    accepts,
  });
}

const LOCATION_TEXT = { header: "field", query: "parameter", cookie: "named" } as const;
/** Never matches: no key contains a space. */
const AMBIGUOUS = " ";

const READERS = {
  header(name) {
    const field = name.toLowerCase();
    return ({ headers }) => headers[field];
  },
  query: (name) => (request) => onlyValue(request.query, "&", name, decodeParameter),
  cookie:
    (name) =>
    ({ headers }) =>
      onlyValue(headers["cookie"] ?? "", ";", name, (text) => text.trim()),
} satisfies Record<ApiKeyLocation["location"], (name: string) => (request: RequestHead) => Maybe<string>>;

function onlyValue(text: string, separator: string, name: string, decode: (text: string) => string): Maybe<string> {
  let found: Maybe<string>;
  if (text === "") return found;
  for (const pair of text.split(separator)) {
    const equals = pair.indexOf("=");
    if (equals === -1 || decode(pair.slice(0, equals)) !== name) continue;
    if (found !== undefined) return AMBIGUOUS;
    found = decode(pair.slice(equals + 1));
  }
  return found;
}

function decodeParameter(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return AMBIGUOUS;
  }
}
