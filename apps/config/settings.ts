import { protocols } from "../../src/public/protocols.js";
import type { MemberPath } from "./document.js";
import { nearestOf } from "./nearest.js";

/** What is wrong with the protocol settings of a document. */
export function settingProblems(settings: {
  readonly [protocol: string]: object;
}): readonly { readonly path: MemberPath; readonly problem: string }[] {
  return Object.entries(settings).flatMap(([id, given]) => {
    const protocol = protocols.find((each) => each.id === id);
    if (protocol === undefined) {
      const problem = `is not a known protocol; available: ${protocols.map((each) => each.id).join(", ")}`;
      return [{ path: ["settings", id], problem }];
    }
    const known = (protocol.settings ?? []).map(({ name }) => name);
    const hint = known.length === 0 ? `${id} has no settings` : `available: ${known.join(", ")}`;
    return Object.keys(given).flatMap((name) => {
      if (known.includes(name)) return [];
      const near = nearestOf(name, known);
      return [{ path: ["settings", id, name], problem: `is unknown; ${near === undefined ? hint : `did you mean ${near}?`}` }];
    });
  });
}
