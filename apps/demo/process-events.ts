import type { NetworkEvent } from "../dashboard/index.js";
import type { LaunchedNetwork, NodeStatus } from "../up/index.js";

/** Limit of stored events. */
const KEPT = 200;

/** Records crashes and restarts of processes as events, and others that it is given. */
export class ProcessEvents {
  readonly all: NetworkEvent[] = [];
  readonly close: () => void;
  readonly #now: () => number;

  constructor(network: Pick<LaunchedNetwork, "onChange">, now: () => number) {
    this.#now = now;
    this.close = network.onChange((status) => {
      const says = describeStatus(status);
      if (says !== undefined) this.add({ kind: "process", subject: status.id, says });
    });
  }

  add(event: Omit<NetworkEvent, "at">): void {
    this.all.push({ ...event, at: this.#now() });
    if (this.all.length > KEPT) this.all.shift();
  }
}

/** The first start and the shutdown are not events. */
function describeStatus({ state, pid, restarts, problem = "exited" }: NodeStatus): string | undefined {
  if (state === "restarting" || state === "gave-up") return problem;
  return state === "ready" && restarts > 0 ? `restarted as process ${pid}` : undefined;
}
