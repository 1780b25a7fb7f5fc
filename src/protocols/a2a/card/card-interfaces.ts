import type { Card, Interface, JsonObject, Maybe } from "../../../envelope/index.js";
import { DecodeProblem, optional, readArray, readObject, readText } from "../../../transport/fields.js";
import { plain } from "../wire.js";

const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;

/** The interfaces on a card: the 1.0 list first, then the 0.3 addresses, without duplicates. */
export function readInterfaces(card: JsonObject): readonly Interface[] {
  const listed = card.supportedInterfaces ?? card.supported_interfaces;
  const fallback = plain(card.protocolVersion ?? card.protocol_version, "protocolVersion");
  const modern = optional(listed, "supportedInterfaces", (value, path) =>
    readArray(value, path, (item, at) => readInterface(readObject(item, at), at, fallback)),
  );
  const legacy = readLegacyInterfaces(card, fallback);
  if (modern === undefined && legacy.length === 0)
    throw new DecodeProblem("supportedInterfaces", "is missing, and so is the url of an older card");
  const found: Interface[] = [];
  for (const one of [...(modern ?? []), ...legacy]) if (!found.some((other) => isSame(one, other))) found.push(one);
  return found;
}

function readInterface(object: JsonObject, path: string, fallback: Maybe<string>): Interface {
  const version = plain(object.protocolVersion ?? object.protocol_version, `${path}.protocolVersion`);
  return {
    protocol: "a2a",
    // The version at the top of a card for both versions is that of its 0.3 addresses.
    version: readVersion(version ?? (fallback?.startsWith("0.") === false ? fallback : "1.0")),
    binding: readBinding(
      readText(object.protocolBinding ?? object.protocol_binding ?? object.transport, `${path}.protocolBinding`),
    ),
    url: readText(object.url, `${path}.url`),
    tenant: plain(object.tenant, `${path}.tenant`),
  };
}

function readLegacyInterfaces(card: JsonObject, fallback: Maybe<string>): readonly Interface[] {
  const version = readVersion(fallback ?? "0.3");
  const url = plain(card.url, "url");
  const preferred = plain(card.preferredTransport ?? card.preferred_transport, "preferredTransport") ?? "JSONRPC";
  const found: Interface[] = [];
  if (url !== undefined) found.push({ protocol: "a2a", version, binding: readBinding(preferred), url, tenant: undefined });
  const more = card.additionalInterfaces ?? card.additional_interfaces;
  for (const [index, item] of (
    optional(more, "additionalInterfaces", (value, path) => readArray(value, path, readObject)) ?? []
  ).entries()) {
    const path = `additionalInterfaces[${index}]`;
    const binding = readBinding(readText(item.transport, `${path}.transport`));
    found.push({ protocol: "a2a", version, binding, url: readText(item.url, `${path}.url`), tenant: undefined });
  }
  return found;
}

/** Only major and minor are compared (A2A 1.0 §3.6). 0.2 is treated as 0.3. */
function readVersion(version: string): string {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return version;
  return major === "0" && Number(minor) < 3 ? "0.3" : `${major}.${minor}`;
}

/** Names are compared case-insensitively; unknown names are kept. */
function readBinding(binding: string): string {
  const upper = binding.toUpperCase();
  return BINDINGS.find((name) => name === upper) ?? binding;
}

function isSame(a: Interface, b: Interface): boolean {
  return a.url === b.url && a.binding === b.binding && a.version === b.version && a.tenant === b.tenant;
}

/** The A2A addresses of a card, in order of preference. */
export function a2aInterfaces(card: Card): readonly Interface[] {
  return card.interfaces.filter(({ protocol }) => protocol === "a2a");
}

/** The addresses that support 0.3. */
export function legacyInterfaces(card: Card): readonly Interface[] {
  return a2aInterfaces(card).filter(({ version }) => version.startsWith("0."));
}
