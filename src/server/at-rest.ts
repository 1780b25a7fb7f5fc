import type { AtRest } from "../protocols/traits.js";
import type { Store } from "../tasks/index.js";

/** How a server stores content, for its cards. */
export function atRestOf({ sealed }: Store, hasLargeParts: boolean): AtRest {
  return {
    tasks: sealed === undefined ? undefined : sealed ? "sealed" : "clear",
    largeParts: hasLargeParts ? "clear" : undefined,
  };
}

/** The records of a store for the protocols of a host. */
export function recordsIn({ records, contentRecords }: Store): Pick<Store, "records" | "contentRecords"> {
  return { records, ...(contentRecords && { contentRecords }) };
}
