import { isObject, type Json, type JsonObject, type Maybe, type Metadata, type Security } from "../../../envelope/index.js";
import { readObject, readStrings } from "../../../transport/fields.js";
import { someOf } from "../wire.js";

/** The member of a 1.0 SecurityScheme (§4.5.1) and the `type` that 0.3, like OpenAPI, has instead. */
const SCHEMES = [
  { member: "apiKeySecurityScheme", type: "apiKey" },
  { member: "httpAuthSecurityScheme", type: "http" },
  { member: "oauth2SecurityScheme", type: "oauth2" },
  { member: "openIdConnectSecurityScheme", type: "openIdConnect" },
  { member: "mtlsSecurityScheme", type: "mutualTLS" },
] as const;

/** The neutral card keeps a scheme in its 1.0 form: an object with one member that names its kind. */
export function readSecurity(card: JsonObject): Security {
  const schemes = card.securitySchemes ?? card.security_schemes;
  return {
    schemes: schemes === undefined || schemes === null ? {} : readSchemes(readObject(schemes, "securitySchemes")),
    anyOf: readNeeds(card, "") ?? [],
  };
}

function readSchemes(schemes: JsonObject): Security["schemes"] {
  return Object.fromEntries(
    Object.entries(schemes).map(([name, value]) => [name, readScheme(readObject(value, `securitySchemes.${name}`))]),
  );
}

function readScheme(scheme: JsonObject): Metadata {
  for (const { member } of SCHEMES) {
    const inner = scheme[member];
    if (inner !== undefined && inner !== null) return { [member]: inner };
  }
  const known = SCHEMES.find(({ type }) => type === scheme.type);
  if (known === undefined) return scheme;
  const members = Object.entries(scheme)
    .filter(([name]) => name !== "type")
    .map(([name, value]) => [known.type === "apiKey" && name === "in" ? "location" : name, value]);
  return { [known.member]: Object.fromEntries(members) };
}

/**
 * The requirements of a card or a skill, by the member name of any version; undefined if absent. `path` ends in a dot, or is
 * empty.
 */
export function readNeeds(owner: JsonObject, path: string): Maybe<Security["anyOf"]> {
  const value = owner.securityRequirements ?? owner.security_requirements ?? owner.security;
  if (value === undefined || value === null) return undefined;
  const needs: readonly unknown[] = Array.isArray(value) ? value : [value];
  return needs.map((need, index) => {
    const at = `${path}securityRequirements[${index}]`;
    return readNeed(readObject(need, at), at);
  });
}

/** `{"schemes": {"name": {"list": […]}}}` in 1.0, `{"name": […]}` in 0.3. */
function readNeed(need: JsonObject, path: string): { readonly [scheme: string]: readonly string[] } {
  const schemes = isObject(need.schemes) ? need.schemes : need;
  return Object.fromEntries(
    Object.entries(schemes).map(([name, scopes]) => {
      const list = isObject(scopes) ? (scopes.list ?? []) : (scopes ?? []);
      return [name, readStrings(list, `${path}.${name}`)];
    }),
  );
}

export function writeSchemes(security: Security): Maybe<JsonObject> {
  return Object.keys(security.schemes).length === 0 ? undefined : security.schemes;
}

export function writeNeeds(anyOf: Maybe<Security["anyOf"]>): Maybe<readonly JsonObject[]> {
  return someOf(anyOf)?.map((need) => ({
    schemes: Object.fromEntries(Object.entries(need).map(([name, list]) => [name, { list }])),
  }));
}

/** The schemes in 0.3 form: `type` beside the members of the scheme. */
export function writeKindSchemes(security: Security): Maybe<JsonObject> {
  const entries = Object.entries(security.schemes);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name, scheme]) => [name, writeKindScheme(scheme)]));
}

function writeKindScheme(scheme: Metadata): JsonObject {
  for (const { member, type } of SCHEMES) {
    const inner = scheme[member];
    if (!isObject(inner)) continue;
    const members = Object.entries(inner).map(([name, value]): [string, Json | undefined] => {
      if (type === "apiKey" && name === "location") return ["in", value];
      return [name, type === "oauth2" && name === "flows" && isObject(value) ? writeKindFlows(value) : value];
    });
    return { type, ...Object.fromEntries(members) };
  }
  return scheme;
}

/** 0.3 has neither the device code flow nor a PKCE flag. */
function writeKindFlows(flows: JsonObject): JsonObject {
  const known = Object.entries(flows).filter(([name]) => name !== "deviceCode");
  return Object.fromEntries(
    known.map(([name, flow]) => [
      name,
      isObject(flow) ? Object.fromEntries(Object.entries(flow).filter(([member]) => member !== "pkceRequired")) : flow,
    ]),
  );
}

export function writeKindNeeds(anyOf: Maybe<Security["anyOf"]>): Maybe<readonly JsonObject[]> {
  return someOf(anyOf);
}

/** Both forms in one object: 0.3 readers use `type`, 1.0 readers the member. */
export function writeHybridSchemes(security: Security): Maybe<JsonObject> {
  const entries = Object.entries(security.schemes);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([name, scheme]) => [name, { ...writeKindScheme(scheme), ...scheme }]));
}
