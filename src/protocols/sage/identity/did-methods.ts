import type { JsonObject, Maybe, Records } from "../../../envelope/index.js";
import type { DidMethod } from "../../protocol.js";
import { readSettings } from "../settings.js";
import { METHOD } from "./did-sage.js";

/**
 * `did:sage` by the registries of the settings, which are loaded with the first DID. The resolver keeps nothing itself: the cache knows of
 * revocations. A peer called by such a DID is called by SAGE or not at all.
 */
export function didMethods(given: Maybe<JsonObject>, records: Maybe<Records>): readonly DidMethod[] {
  const settings = readSettings(given);
  let method: Maybe<Promise<DidMethod>>;
  const load = async (): Promise<DidMethod> => {
    const [{ configuredCache }, { didSage }] = await Promise.all([
      import("./configured-registries.js"),
      import("./did-cache.js"),
    ]);
    return didSage(configuredCache(settings, records));
  };
  return [
    {
      method: METHOD,
      cacheMs: 0,
      exclusive: true,
      async resolve(did, fetch, now) {
        method ??= load();
        return (await method).resolve(did, fetch, now);
      },
      async close() {
        await (await method)?.close?.();
      },
    },
  ];
}
