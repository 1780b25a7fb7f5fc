import { type FloorFields, FloorRules, floorOf, NO_FLOOR } from "../../src/internal.js";
import { protocols } from "../../src/public/protocols.js";
import { type PlannedCalls, providedSecurity } from "../config/index.js";
import { LOOPBACK } from "./ports.js";
import type { Plan } from "./read-plan.js";

/** A link that gets less security than its callee requires. */
export interface PlanFloorLink extends FloorFields {
  readonly src: string;
  readonly dst: string;
}

/** Every link that lowers what its callee requires, or will be refused. */
export async function floorLinks({ modules, network }: Plan): Promise<readonly PlanFloorLink[]> {
  const found = network.links.map(async ({ src, dst }): Promise<readonly PlanFloorLink[]> => {
    const { require, url = `http://${LOOPBACK}`, pin, identity } = modules.find(({ id }) => id === dst) ?? {};
    if (require === undefined) return [];
    const spoken = network.nodes.find(({ id }) => id === dst)?.spokenBy ?? "its protocol";
    const rules = new FloorRules(url, { require }, { now: Date.now });
    await rules.learn();
    const signs = modules.find(({ id }) => id === src)?.identity !== undefined;
    // Who has an identity is called by its DID, if its protocol proves DIDs.
    const namesPeer: PlannedCalls["namesPeer"] = ({ usesIdentity }) => usesIdentity === true && identity !== undefined;
    const provided = floorOf(providedSecurity({ url, pin: pin ?? `${spoken}@${newestOf(spoken)}`, signs, namesPeer }));
    return rules.verdicts(NO_FLOOR, { protocol: spoken, url, provided }).map((each) => ({ src, dst, ...each }));
  });
  return (await Promise.all(found)).flat();
}

function newestOf(spoken: string): string {
  return protocols.find(({ id }) => id === spoken)?.versions[0] ?? "";
}

/** One line for the operator. */
export function floorLine({ src, dst, outcome, requirement, because }: PlanFloorLink): string {
  return outcome === "lowered"
    ? `the link from ${src} to ${dst} gets calls without ${requirement === "encrypted" ? "encryption" : requirement}: ${because}`
    : `the calls from ${src} to ${dst} are refused: ${because}`;
}
