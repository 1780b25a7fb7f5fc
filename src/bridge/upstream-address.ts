import { peerLink } from "../client/peer-link.js";
import { requireSecurity } from "../client/require-security.js";
import type { ConnectOptions } from "../client/resolve-peer.js";
import type { Handler } from "../envelope/index.js";
import type { Protocol } from "../protocols/protocol.js";
import { noTelemetry } from "../telemetry/index.js";
import type { HttpRequest, Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";

/**
 * For a peer whose card names the gateway's addresses instead of its own: what is below the gateway's public address is found
 * at the same path below the peer's. Without it the gateway would call itself.
 */
export class UpstreamAddressRewriter {
  /** From what, to what: addresses, and `host:port` as some bindings write it. */
  readonly #ways: readonly (readonly [from: string, to: string])[];
  readonly #url: string;

  constructor(publicUrl: string, url: string) {
    const [front, behind] = [new URL(publicUrl), new URL(url)];
    this.#url = url;
    this.#ways = [
      [plain(front.href), plain(behind.href)],
      [authority(front), authority(behind)],
    ];
  }

  /** Where a request for this address really goes. */
  address(target: string): string {
    const absolute = /^https?:\/\//i.test(target) ? new URL(target).href : target;
    for (const [from, to] of this.#ways)
      if (absolute === from || absolute.startsWith(`${from}/`) || absolute.startsWith(`${from}?`))
        return `${to}${absolute.slice(from.length)}`;
    return target;
  }

  /** Above the credentials, which go to the peer's own origin alone, and below everything else, for finding out about the peer. */
  options(url: string, options: ConnectOptions): ConnectOptions {
    const { link, limits = DEFAULT_LIMITS, credentials, telemetry = noTelemetry } = options;
    return {
      ...options,
      link: this.#link(link ?? peerLink(url, limits, credentials?.tls)),
      telemetry: { ...telemetry, link: (inner, edge) => this.#link(telemetry.link(inner, edge)) },
    };
  }

  /** The card's address may be under TLS and the peer's own not: what a call demands is measured by the way it really takes. */
  aboveFloor(handler: Handler, spoken: () => Pick<Protocol, "id" | "traits">): Handler {
    return (operation, call) => requireSecurity(handler, spoken(), { url: this.#url })(operation, call);
  }

  #link(link: Link): Link {
    return { ...link, exchange: (request) => link.exchange(this.#request(request)), close: () => link.close() };
  }

  #request(request: HttpRequest): HttpRequest {
    const url = this.address(request.target);
    if (url === request.target) return request;
    const { method, headers, body, cancel, connection } = request;
    return makeRequest({ method, url, headers, body, cancel, connection });
  }
}

function plain(href: string): string {
  return href.replace(/\/$/, "");
}

function authority({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
