import type { Maybe } from "../../../envelope/index.js";

/** `host:port`, which is how a card writes where gRPC is answered. Undefined below a path, which gRPC has no place for. */
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
 * The origin a card means by `host:port`, `dns:///host:port` or an address with a scheme. Without one it is as safe as the
 * address of the card itself: https where the card came by it. Undefined where it is no address.
 */
export function grpcOrigin(url: string, base: string): Maybe<string> {
  const [, named, rest = ""] = /^(?:([a-z]+:)\/\/)?(.*)$/i.exec(url.replace(/^dns:\/\/[^/]*\//, "")) ?? [];
  const scheme = named === undefined ? new URL(base).protocol : SCHEMES[named.toLowerCase()];
  const address = `${scheme}//${rest}`;
  return scheme !== undefined && URL.canParse(address) ? new URL(address).origin : undefined;
}
