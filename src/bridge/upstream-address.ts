import { requireSecurity } from "../client/require-security.js";
import type { RewriteAddress } from "../client/resolve-peer.js";
import type { Handler } from "../envelope/index.js";
import type { Protocol } from "../protocols/protocol.js";
import { httpAddress } from "../transport/request.js";

/**
 * For an upstream whose card names the gateway's addresses: maps addresses below the gateway's public URL to the same path
 * below the upstream's URL. Without it the gateway would call itself.
 */
export class UpstreamAddressRewriter {
  /** Prefixes to replace: URLs, and `host:port` as some bindings write it. */
  readonly #mappings: readonly (readonly [from: string, to: string])[];
  readonly #url: string;

  constructor(publicUrl: string, url: string) {
    const [listener, upstream] = [new URL(publicUrl), new URL(url)];
    this.#url = url;
    this.#mappings = [
      [plain(listener.href), plain(upstream.href)],
      [authority(listener), authority(upstream)],
    ];
  }

  /** The upstream address of a target. */
  readonly address: RewriteAddress = (target) => {
    const plainTarget = httpAddress(target);
    if (plainTarget !== target) return `ws${this.address(plainTarget).slice("http".length)}`;
    const absolute = /^https?:\/\//i.test(target) ? new URL(target).href : target;
    for (const [from, to] of this.#mappings)
      if (absolute === from || absolute.startsWith(`${from}/`) || absolute.startsWith(`${from}?`))
        return `${to}${absolute.slice(from.length)}`;
    return target;
  };

  /** The card's address may use TLS and the upstream's not: security requirements are checked against the real address. */
  requireSecurity(handler: Handler, protocol: () => Pick<Protocol, "id" | "traits">): Handler {
    return (operation, call) => requireSecurity(handler, protocol(), { url: this.#url })(operation, call);
  }
}

function plain(href: string): string {
  return href.replace(/\/$/, "");
}

function authority({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
