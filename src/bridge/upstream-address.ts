import type { RewriteAddress } from "../client/peer-link.js";
import { httpAddress } from "../transport/request.js";

/**
 * For an upstream whose card names the gateway's addresses: maps addresses below the gateway's public URL to the same path
 * below the upstream's URL. Without it the gateway would call itself.
 */
export class UpstreamAddressRewriter {
  /** Prefixes to replace: URLs, and `host:port` as some bindings write it. */
  readonly #mappings: readonly (readonly [from: string, to: string])[];

  constructor(publicUrl: string, url: string) {
    const [listener, upstream] = [new URL(publicUrl), new URL(url)];
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
}

function plain(href: string): string {
  return href.replace(/\/$/, "");
}

function authority({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}
