import type { Interface, Maybe } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { grpcAuthority } from "../grpc/address.js";
import { readSettings } from "../settings.js";

/** The base path of A2A. Only paths that peers assume are at the root. */
export const BASE = "/a2a";

/** The interfaces of an agent, best first, as listed on its cards. */
export function interfacesOf(host: Host, agent: string, publicUrl: string): readonly Interface[] {
  const isDefault = host.cards()[0]?.name === agent;
  const url = `${publicUrl}${BASE}${isDefault ? "" : `/${encodeURIComponent(agent)}`}`;
  const interfaces: readonly Interface[] = [
    { protocol: "a2a", version: "1.0", binding: "JSONRPC", url },
    { protocol: "a2a", version: "1.0", binding: "HTTP+JSON", url },
    { protocol: "a2a", version: "0.3", binding: "JSONRPC", url },
    // 0.3 clients append `/v1/…` to the address.
    { protocol: "a2a", version: "0.3", binding: "HTTP+JSON", url },
    ...grpcInterfaces(host, publicUrl, isDefault ? undefined : agent),
  ];
  return interfaces.filter((iface) => host.offers?.(iface) ?? true);
}

/**
 * gRPC needs HTTP/2. Its paths cannot name an agent: the tenant does, which clients copy from the card. 0.3 has no tenants, so there
 * only metadata names another agent than the default one, and its card does not list the interface.
 */
function grpcInterfaces(host: Host, publicUrl: string, tenant: Maybe<string>): readonly Interface[] {
  const authority = host.http2 ? grpcAuthority(publicUrl) : undefined;
  if (authority === undefined) return [];
  const { legacyGrpcAddress, grpcAddress } = readSettings(host.settings("a2a"));
  const url = grpcAddress === "url" ? publicUrl : authority;
  if (tenant !== undefined) return [{ protocol: "a2a", version: "1.0", binding: "GRPC", url, tenant }];
  return [
    { protocol: "a2a", version: "1.0", binding: "GRPC", url },
    { protocol: "a2a", version: "0.3", binding: "GRPC", url: legacyGrpcAddress === "url" ? publicUrl : authority },
  ];
}
