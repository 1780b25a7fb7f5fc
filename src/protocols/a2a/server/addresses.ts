import type { Interface } from "../../../envelope/index.js";
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
    ...(isDefault ? grpcInterfaces(host, publicUrl) : []),
  ];
  return interfaces.filter((iface) => host.offers?.(iface) ?? true);
}

/** gRPC paths cannot name an agent, so the default agent is used. gRPC needs HTTP/2. */
function grpcInterfaces(host: Host, publicUrl: string): readonly Interface[] {
  const url = host.http2 ? grpcAuthority(publicUrl) : undefined;
  if (url === undefined) return [];
  const { legacyGrpcAddress } = readSettings(host.settings("a2a"));
  return [
    { protocol: "a2a", version: "1.0", binding: "GRPC", url },
    { protocol: "a2a", version: "0.3", binding: "GRPC", url: legacyGrpcAddress === "url" ? publicUrl : url },
  ];
}
