import type { Maybe } from "../envelope/index.js";
import { type AddressClass, addressClass } from "./address.js";

/** Where unencrypted bytes may go: they stay on this host, in a private network, or go anywhere. */
export type Exposure = "loopback" | "private" | "public";

const RANK: { readonly [exposure in Exposure]: number } = { loopback: 0, private: 1, public: 2 };

export function isWithin(exposure: Exposure, limit: Exposure): boolean {
  return RANK[exposure] <= RANK[limit];
}

/** Reserved addresses, such as link-local ones, count as public: nobody knows who listens there. */
export function exposureOf(found: AddressClass): Exposure {
  return found === "reserved" ? "public" : found;
}

/** The exposure of a name with these addresses: any of them may be dialled. */
export function exposureOfAll(addresses: readonly string[]): Exposure {
  let most: Exposure = "loopback";
  for (const address of addresses) {
    const each = exposureOf(addressClass(address) ?? "public");
    if (RANK[each] > RANK[most]) most = each;
  }
  return most;
}

/** The exposure of a literal address or of `localhost`; undefined for other names, which have to be resolved. */
export function literalExposure(hostname: string): Maybe<Exposure> {
  const literal = addressClass(hostname);
  if (literal !== undefined) return exposureOf(literal);
  return /^(.+\.)?localhost\.?$/i.test(hostname) ? "loopback" : undefined;
}
