import { type Protocol, protocols as registered, selectInterfaces } from "../../src/public/protocols.js";
import { nearestOf } from "./schema-problems.js";

const FORM = /^[a-z0-9-]+(@[^/@\s]+(\/[^/\s]+)?)?$/;

/** What is wrong with the name of a way; undefined where nothing is. */
export function interfaceNameProblem(text: string, known: readonly Protocol[] = registered): string | undefined {
  if (!FORM.test(text)) return "must look like protocol, protocol@version or protocol@version/binding";
  const [id = "", version] = text.replace(/\/.*$/, "").split("@", 2);
  const protocol = known.find((each) => each.id === id);
  if (protocol === undefined) {
    const ids = known.map((each) => each.id);
    const near = nearestOf(id, ids);
    return `names ${id}, which is no protocol here; ${near === undefined ? `there are: ${ids.join(", ")}` : `did you mean ${near}?`}`;
  }
  if (version === undefined || protocol.versions.includes(version)) return undefined;
  return `names version ${version}; of ${id} there are: ${protocol.versions.join(", ")}`;
}

/** The protocols as far as they are to be spoken. */
export function listenerInterfaces(as: readonly string[] | undefined): readonly Protocol[] {
  return as === undefined ? registered : selectInterfaces(as, registered);
}
