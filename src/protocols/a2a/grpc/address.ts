import type { Maybe } from "../../../envelope/index.js";
import type { HttpRequest } from "../../../transport/exchange.js";

/** The path prefix of the gRPC service. Its package name determines the protocol version. */
export const SERVICES = { "1.0": "/lf.a2a.v1.A2AService", "0.3": "/a2a.v1.A2AService" } as const;
export type Version = keyof typeof SERVICES;

/** The health service of gRPC, which load balancers and kubelets ask. */
export const HEALTH_SERVICE = "/grpc.health.v1.Health";
/** Server reflection, which describes the services to tools. Tools ask for `v1` or for the older `v1alpha`. */
export const REFLECTION_SERVICES = ["/grpc.reflection.v1.ServerReflection", "/grpc.reflection.v1alpha.ServerReflection"] as const;
/** All requests of one reflection call. A tool asks for a few names. */
export const REFLECTION_BYTES = 64 * 1024;

/** The metadata that names an agent of the host, where the request has no tenant. */
export const AGENT_METADATA = "koine-agent";

/** True for any gRPC content type. gRPC-Web and other payload formats are rejected when the call is answered. */
export function isGrpc(request: HttpRequest): boolean {
  return request.headers["content-type"]?.startsWith("application/grpc") === true;
}

/** The gRPC address for a card, `host:port`. Undefined for base URLs with a path, which gRPC does not support. */
export function grpcAuthority(publicUrl: string): Maybe<string> {
  const { hostname, port, protocol, pathname } = new URL(publicUrl);
  if (pathname !== "/") return undefined;
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}

const SCHEMES: { readonly [scheme: string]: string } = {
  "http:": "http:",
  "https:": "https:",
  "grpc:": "http:",
  "grpcs:": "https:",
};

/**
 * The origin for `host:port`, `dns:///host:port` or a URL in a card. Without a scheme it is https if the card was fetched over
 * https. Undefined for invalid addresses.
 */
export function grpcOrigin(url: string, base: string): Maybe<string> {
  const [, named, rest = ""] = /^(?:([a-z]+:)\/\/)?(.*)$/i.exec(url.replace(/^dns:\/\/[^/]*\//, "")) ?? [];
  const scheme = named === undefined ? new URL(base).protocol : SCHEMES[named.toLowerCase()];
  const address = `${scheme}//${rest}`;
  return scheme !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}
