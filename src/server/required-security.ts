import { type Floor, floorOf, type Maybe, NO_FLOOR, type Requirement, raiseFloor } from "../envelope/index.js";
import type { PolicySink } from "../policies/index.js";
import type { HostParts } from "../protocols/host.js";
import type { AuditTrail } from "../security/index.js";
import type { Agent } from "./agent.js";

/** What callers must bring: to all agents of a host, and to each of them. Refusals are counted and audited. */
export function requiredSecurity(
  agents: readonly Pick<Agent, "name" | "require" | "relayed">[],
  { require = [], notes }: { readonly require?: readonly Requirement[]; readonly notes: Maybe<PolicySink> },
  trail: Maybe<AuditTrail>,
): Pick<HostParts, "requiredBy" | "onBelowFloor" | "relayed"> {
  const all = floorOf(require);
  const byName = new Map<string, Floor>();
  for (const agent of agents) {
    const floor = raiseFloor(all, floorOf(agent.require ?? []));
    if (floor !== NO_FLOOR) byName.set(agent.name, floor);
  }
  // What is required of callers cannot be checked in a session that is passed on.
  const relays = new Map(agents.filter(({ name }) => !byName.has(name)).map((agent) => [agent.name, agent]));
  const relayed: HostParts["relayed"] = (agent) => relays.get(agent)?.relayed?.();
  if (byName.size === 0) return { relayed };
  return {
    relayed,
    requiredBy: (agent) => byName.get(agent) ?? all,
    onBelowFloor(head, error, missing, { caller, agent, via }) {
      trail?.refused(head, error, caller);
      notes?.({
        kind: "floor",
        outcome: "refused",
        requirement: missing,
        because: "the caller did not bring it",
        destination: agent,
        protocol: via.protocol,
        traceId: undefined,
      });
    },
  };
}
