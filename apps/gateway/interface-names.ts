import { type Protocol, protocols as registered } from "../../src/public/protocols.js";
import { nearestOf } from "../config/index.js";

const FORM = /^[a-z0-9-]+(@[^/@\s]+(\/[^/\s]+)?)?$/;

/** Why an interface name is invalid; undefined if it is valid. */
export function interfaceNameProblem(text: string, known: readonly Protocol[] = registered): string | undefined {
  if (!FORM.test(text)) return "must look like protocol, protocol@version or protocol@version/binding";
  const [id = "", version] = text.replace(/\/.*$/, "").split("@", 2);
  const protocol = known.find((each) => each.id === id);
  if (protocol === undefined) {
    const ids = known.map((each) => each.id);
    const near = nearestOf(id, ids);
    return `names unknown protocol ${id}; ${near === undefined ? `available: ${ids.join(", ")}` : `did you mean ${near}?`}`;
  }
  if (version === undefined || protocol.versions.includes(version)) return undefined;
  return `names unknown version ${version} of ${id}; available: ${protocol.versions.join(", ")}`;
}
