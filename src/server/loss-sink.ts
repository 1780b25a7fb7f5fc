import type { HostParts } from "../protocols/host.js";
import type { Telemetry } from "../telemetry/index.js";
import type { Agent } from "./agent.js";

/** Undefined if no agent and no telemetry takes losses: most calls then carry no sink. */
export function lossSinkOf(agents: readonly Agent[], { lossReported }: Telemetry): HostParts["onLoss"] {
  const sinks = new Map(
    agents.flatMap((each) => (each.onLoss === undefined ? [] : [[each.name, each.onLoss.bind(each)] as const])),
  );
  if (sinks.size === 0 && lossReported === undefined) return undefined;
  return (loss, call) => {
    sinks.get(call.agent)?.(loss);
    lossReported?.(loss, call);
  };
}
