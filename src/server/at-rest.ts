import type { Extension, Maybe } from "../envelope/index.js";
import type { Protocol } from "../protocols/protocol.js";
import type { AtRest } from "../protocols/traits.js";
import type { Identity } from "../security/identity/index.js";
import type { Store } from "../tasks/index.js";

/** The extensions on the cards of a server, which may say how it stores content. */
export function extensionsOf(
  protocols: readonly Protocol[],
  { identity, artifacts }: { readonly identity?: Maybe<Identity>; readonly artifacts?: Maybe<object> },
  { sealed }: Store,
): readonly Extension[] {
  const atRest: AtRest = {
    tasks: sealed === undefined ? undefined : sealed ? "sealed" : "clear",
    largeParts: artifacts === undefined ? undefined : "clear",
  };
  return protocols.flatMap(({ cardExtensions }) => cardExtensions?.(identity, atRest) ?? []);
}

/** The records of a store for the protocols of a host. */
export function recordsIn({ records, contentRecords }: Store): Pick<Store, "records" | "contentRecords"> {
  return { records, ...(contentRecords && { contentRecords }) };
}
