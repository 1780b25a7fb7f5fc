import type { NetworkEvent } from "../dashboard/index.js";
import type { LaunchedNetwork, NodeStatus } from "../up/index.js";

/** Limit of stored events. */
const KEPT = 200;

/** Records crashes and restarts of processes as events. */
export class ProcessEvents {
  readonly all: NetworkEvent[] = [];
  readonly close: () => void;

  constructor(network: Pick<LaunchedNetwork, "onChange">, now: () => number) {
    this.close = network.onChange((status) => {
      const says = describeStatus(status);
      if (says === undefined) return;
      this.all.push({ at: now(), kind: "process", subject: status.id, says });
      if (this.all.length > KEPT) this.all.shift();
    });
  }
}

/** The first start and the shutdown are not events. */
function describeStatus({ state, pid, restarts, problem = "exited" }: NodeStatus): string | undefined {
  if (state === "restarting" || state === "gave-up") return problem;
  return state === "ready" && restarts > 0 ? `restarted as process ${pid}` : undefined;
}
