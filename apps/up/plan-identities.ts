import { resolve } from "node:path";
import { AgentError } from "../../src/index.js";
import { openIdentity } from "../../src/public/identity.js";
import type { Network } from "../../src/public/network.js";
import { protocols } from "../../src/public/protocols.js";
import type { PlanModule } from "./plan-schema.js";

interface PlannedModules {
  readonly modules: readonly PlanModule[];
  readonly network: Network;
}

/** The identities of a plan: who is called by its DID, and who knows its callers by theirs. */
export interface PlanIdentities {
  /** What a module is called by, and has to prove. Undefined: it has no identity, or its protocol proves none. */
  didOf(id: string): string | undefined;
  /** The DIDs that a module admits: those of its callers, and its own for health checks. Undefined: not by DIDs. */
  admittedBy(id: string): readonly string[] | undefined;
}

/** Opens the identity files. Fails at start for those that cannot be used. */
export async function openIdentities(plan: PlannedModules & { readonly folder: string }): Promise<PlanIdentities> {
  const found = plan.modules.map(async ({ id, identity }, index) => {
    if (identity === undefined) return [];
    const { did } = await openIdentity(resolve(plan.folder, identity)).catch((thrown: unknown) => {
      const { code, message } = AgentError.from(thrown);
      throw new AgentError(code, `the identity of ${id} cannot be used: ${message}`, { field: `modules[${index}].identity` });
    });
    return [[id, did] as const];
  });
  const dids = new Map((await Promise.all(found)).flat());
  return {
    didOf: (id) => (provesDid(plan, id) ? dids.get(id) : undefined),
    admittedBy: (id) =>
      knowsCallersByDid(plan, id) ? [id, ...callersOf(plan, id)].flatMap((each) => dids.get(each) ?? []) : undefined,
  };
}

/**
 * Whether a module with callers knows them by their DIDs: it and all of them have identities, its protocol proves them, and no bridge, which
 * has none, is in between.
 */
export function knowsCallersByDid(plan: PlannedModules, id: string): boolean {
  const hasIdentity = (each: string): boolean => plan.modules.find((module) => module.id === each)?.identity !== undefined;
  const links = plan.network.links.filter(({ dst }) => dst === id);
  const isDirect = links.every(({ protocol: [from, to] }) => from === to);
  return links.length > 0 && isDirect && provesDid(plan, id) && [id, ...callersOf(plan, id)].every(hasIdentity);
}

function callersOf({ network }: PlannedModules, id: string): readonly string[] {
  return network.links.filter(({ dst }) => dst === id).map(({ src }) => src);
}

function provesDid({ network }: PlannedModules, id: string): boolean {
  const spoken = network.nodes.find((node) => node.id === id)?.spokenBy;
  return protocols.find((each) => each.id === spoken)?.usesIdentity === true;
}
