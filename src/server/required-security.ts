import { type Floor, floorOf, type Maybe, NO_FLOOR, type Requirement, raiseFloor } from "../envelope/index.js";
import type { PolicySink } from "../policies/index.js";
import type { HostParts } from "../protocols/host.js";
import type { AuditTrail } from "../security/index.js";
import type { Agent } from "./agent.js";

/** What callers must bring: to all agents of a host, and to each of them. Refusals are counted and audited. */
export function requiredSecurity(
  agents: readonly Pick<Agent, "name" | "require">[],
  { require = [], notes }: { readonly require?: readonly Requirement[]; readonly notes: Maybe<PolicySink> },
  trail: Maybe<AuditTrail>,
): Pick<HostParts, "requiredBy" | "onBelowFloor"> {
  const all = floorOf(require);
  const byName = new Map<string, Floor>();
  for (const agent of agents) {
    const floor = raiseFloor(all, floorOf(agent.require ?? []));
    if (floor !== NO_FLOOR) byName.set(agent.name, floor);
  }
  if (byName.size === 0) return {};
  return {
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
