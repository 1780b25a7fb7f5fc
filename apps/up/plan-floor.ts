import type { Requirement } from "../../src/index.js";
import { type FloorFields, FloorRules, floorOf, NO_FLOOR, surelyProtected } from "../../src/internal.js";
import { protocols } from "../../src/public/protocols.js";
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
    const { require, url = `http://${LOOPBACK}` } = modules.find(({ id }) => id === dst) ?? {};
    if (require === undefined) return [];
    const spoken = network.nodes.find(({ id }) => id === dst)?.spokenBy ?? "its protocol";
    const rules = new FloorRules(url, { require }, { now: Date.now });
    await rules.learn();
    const provided = floorOf(providedBy(spoken, url));
    return rules.verdicts(NO_FLOOR, { protocol: spoken, url, provided }).map((each) => ({ src, dst, ...each }));
  });
  return (await Promise.all(found)).flat();
}

function providedBy(spoken: string, url: string): readonly Requirement[] {
  const protocol = protocols.find(({ id }) => id === spoken);
  const { signed = "none", sealed = "none" } = protocol === undefined ? {} : surelyProtected(protocol, protocol.versions[0]);
  const isTls = url.startsWith("https:");
  return [
    ...(isTls || sealed !== "none" ? (["encrypted"] as const) : []),
    ...(signed === "none" ? [] : (["signed"] as const)),
    ...(signed === "end-to-end" && sealed === "end-to-end" ? (["end-to-end"] as const) : []),
    ...(isTls || signed !== "none" ? (["identity"] as const) : []),
  ];
}

/** One line for the operator. */
export function floorLine({ src, dst, outcome, requirement, because }: PlanFloorLink): string {
  return outcome === "lowered"
    ? `the link from ${src} to ${dst} gets calls without ${requirement === "encrypted" ? "encryption" : requirement}: ${because}`
    : `the calls from ${src} to ${dst} are refused: ${because}`;
}
