import type { LookupFunction } from "node:net";
import { type Awaitable, floorRefusal, type Maybe } from "../envelope/index.js";
import { addressClass } from "./address.js";
import { type Exposure, exposureOfAll, isWithin, literalExposure } from "./exposure.js";
import type { Resolve } from "./outbound-guard.js";

/**
 * How public the addresses are that a name without TLS is dialled at. A name that was private is not dialled at a public address
 * without notice: the first connection there fails, because calls that must be encrypted were let through to the private one.
 */
export class DialledExposure {
  readonly #resolve: Resolve;
  #known: Maybe<Exposure>;

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** Of a host; resolved with the first use if it was not dialled yet. */
  of(hostname: string): Awaitable<Exposure> {
    const known = addressClass(hostname) === undefined ? this.#known : literalExposure(hostname);
    return known ?? this.#resolve(hostname).then((addresses) => this.#learn(addresses));
  }

  /** The `lookup` option of a connection pool. */
  readonly lookup: LookupFunction = (hostname, { family, all }, callback) => {
    this.#resolve(hostname).then(
      (addresses) => {
        const before = this.#known;
        const now = this.#learn(addresses);
        const found = addresses
          .map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
          .filter((each) => (family !== 4 && family !== 6) || each.family === family);
        const [first] = found;
        if (before !== undefined && !isWithin(now, before))
          callback(floorRefusal("encrypted", `${hostname} no longer provides: its addresses have become ${now}`), "", 0);
        else if (first === undefined) callback(new Error(`${hostname} has no address of family ${String(family)}`), "", 0);
        else if (all === true) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, "", 0),
    );
  };

  #learn(addresses: readonly string[]): Exposure {
    this.#known = exposureOfAll(addresses);
    return this.#known;
  }
}
