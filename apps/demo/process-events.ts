import type { NetworkEvent } from "../dashboard/index.js";
import type { Launched, NodeStatus } from "../up/index.js";

/** News that are kept; the oldest are forgotten. */
const KEPT = 200;

/** What happens to the processes, in one line each: deaths, and who is back. */
export class ProcessNews {
  readonly all: NetworkEvent[] = [];
  readonly close: () => void;

  constructor(network: Pick<Launched, "onChange">, now: () => number) {
    this.close = network.onChange((status) => {
      const says = wordsOf(status);
      if (says === undefined) return;
      this.all.push({ at: now(), kind: "process", subject: status.id, says });
      if (this.all.length > KEPT) this.all.shift();
    });
  }
}

/** Nothing is said of a first start, nor of the end of the demo. */
function wordsOf({ state, pid, restarts, problem = "has ended" }: NodeStatus): string | undefined {
  if (state === "restarting" || state === "gave-up") return problem;
  return state === "ready" && restarts > 0 ? `is back as process ${pid}` : undefined;
}
