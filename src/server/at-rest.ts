import type { AtRest } from "../protocols/protocol.js";
import type { Store } from "../tasks/index.js";
import type { HostOptions } from "./assemble.js";

/** How a server stores content, for its cards. */
export function atRestOf({ sealed }: Store, { artifacts }: Pick<HostOptions, "artifacts">): AtRest {
  return {
    tasks: sealed === undefined ? undefined : sealed ? "sealed" : "clear",
    largeParts: artifacts === undefined ? undefined : "clear",
  };
}

/** The records of a store for the protocols of a host. */
export function recordsIn({ records, contentRecords }: Store): Pick<Store, "records" | "contentRecords"> {
  return { records, ...(contentRecords && { contentRecords }) };
}
