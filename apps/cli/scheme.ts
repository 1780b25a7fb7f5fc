import type { Card, JsonObject } from "../../src/index.js";

type Security = Card["security"];

/** The credential that a security scheme asks for. */
export type Wanted =
  | { readonly kind: "key"; readonly location: "header" | "query" | "cookie"; readonly name: string }
  | { readonly kind: "token"; readonly from?: string }
  | { readonly kind: "certificate" }
  | { readonly kind: "other" };

/** One scheme of a card, whose members are those of A2A 1.0 §4.5. */
export function wantedBy(scheme: JsonObject | undefined): Wanted {
  const { apiKeySecurityScheme: key, oauth2SecurityScheme: oauth2, openIdConnectSecurityScheme: openId } = scheme ?? {};
  if (isObject(key)) return keyLocation(key);
  if (scheme?.["mtlsSecurityScheme"] !== undefined) return { kind: "certificate" };
  if (isObject(oauth2)) return tokenFrom(tokenUrlIn(oauth2["flows"]));
  if (isObject(openId)) return tokenFrom(openId["openIdConnectUrl"]);
  const http = scheme?.["httpAuthSecurityScheme"];
  return isObject(http) && /^bearer$/i.test(String(http["scheme"])) ? { kind: "token" } : { kind: "other" };
}

/** Each security alternative of a card as text: the credential, and the source of tokens. */
export function securityLines({ schemes, anyOf }: Security): readonly string[] {
  if (anyOf.length === 0) return ["none declared"];
  return anyOf.map((alternative) =>
    Object.entries(alternative)
      .map(([name, scopes]) => {
        const words = wordsOf(wantedBy(schemes[name]));
        const known = words === undefined ? name : `${name}: ${words}`;
        return scopes.length === 0 ? known : `${known} (${scopes.join(", ")})`;
      })
      .join(" and "),
  );
}

function wordsOf(wanted: Wanted): string | undefined {
  switch (wanted.kind) {
    case "key":
      return `an API key in the ${wanted.location} ${wanted.name}`;
    case "token":
      return wanted.from === undefined ? "a bearer token" : `a bearer token from ${wanted.from}`;
    case "certificate":
      return "a TLS client certificate";
    case "other":
      return undefined;
  }
}

function keyLocation({ location, name }: JsonObject): Wanted {
  if (typeof name !== "string" || (location !== "header" && location !== "query" && location !== "cookie"))
    return { kind: "other" };
  return { kind: "key", location, name };
}

function tokenFrom(address: unknown): Wanted {
  return typeof address === "string" ? { kind: "token", from: address } : { kind: "token" };
}

function tokenUrlIn(flows: unknown): unknown {
  if (!isObject(flows)) return undefined;
  const found = Object.values(flows).find((flow) => isObject(flow) && typeof flow["tokenUrl"] === "string");
  return isObject(found) ? found["tokenUrl"] : undefined;
}

/** For JSON values only. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
