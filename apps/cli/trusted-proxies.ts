import type { TrustedProxies } from "../../src/index.js";
import { usageError } from "./exit.js";

/** The options of `addProxyOptions`. */
export interface ProxyOptions {
  readonly trustedProxy?: readonly string[];
  readonly trustedProxyBy?: NonNullable<TrustedProxies["by"]>;
  readonly trustedProxyHops?: number;
}

/** The proxies in front; undefined if there are none. */
export function proxiesOf({
  trustedProxy,
  trustedProxyBy: by,
  trustedProxyHops: hops,
}: ProxyOptions): TrustedProxies | undefined {
  if (trustedProxy !== undefined) return { addresses: trustedProxy, by, hops };
  if (by !== undefined || hops !== undefined)
    throw usageError("--trusted-proxy-by and --trusted-proxy-hops are about proxies", "Give --trusted-proxy ADDRESS too.");
  return undefined;
}
