import type { Extension, JsonObject, Maybe } from "../envelope/index.js";
import type { Protocol } from "../protocols/protocol.js";
import type { AtRest } from "../protocols/traits.js";
import type { Identity } from "../security/identity/index.js";
import type { Store } from "../tasks/index.js";

/** The options of a server that its cards tell something about. */
interface Described {
  readonly identity?: Maybe<Identity>;
  readonly artifacts?: Maybe<object>;
  readonly settings?: Maybe<{ readonly [protocol: string]: Maybe<JsonObject> }>;
}

/** The extensions on the cards of a server, which may say how it stores content. */
export function extensionsOf(
  protocols: readonly Protocol[],
  { identity, artifacts, settings }: Described,
  { sealed }: Store,
): readonly Extension[] {
  const atRest: AtRest = {
    tasks: sealed === undefined ? undefined : sealed ? "sealed" : "clear",
    largeParts: artifacts === undefined ? undefined : "clear",
  };
  return protocols.flatMap(({ id, cardExtensions }) => cardExtensions?.(identity, atRest, settings?.[id]) ?? []);
}

/** The records of a store for the protocols of a host. */
export function recordsIn({ records, contentRecords }: Store): Pick<Store, "records" | "contentRecords"> {
  return { records, ...(contentRecords && { contentRecords }) };
}
