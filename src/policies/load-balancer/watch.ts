import type { Layer } from "../../envelope/index.js";
import { around } from "../around.js";
import type { Clock } from "../clock.js";
import type { Destination } from "../destination.js";
import type { Observation, Selector } from "../selection/selector.js";
import type { TaskAffinity } from "./task-affinity.js";

interface Watched {
  readonly owner: string;
  readonly sinceMs: number;
  begun: boolean;
}

/** Around one destination: the selector hears how each attempt began, and whose task is there is learned from what comes first. */
export function watchDestination(destination: Destination, selector: Selector, places: TaskAffinity, clock: Clock): Layer {
  const tell = (watched: Watched, observation: Observation): void => {
    watched.begun = true;
    selector.observe?.(destination, observation);
  };
  return around<Watched>({
    begin(_operation, call) {
      selector.began?.(destination);
      return { owner: call.caller.owner, sinceMs: clock.now(), begun: false };
    },
    event(watched, event) {
      if (watched.begun) return;
      tell(watched, { kind: "answered", afterMs: clock.now() - watched.sinceMs });
      places.learn(watched.owner, event, destination);
    },
    end(watched, outcome) {
      if (watched.begun) return;
      const afterMs = clock.now() - watched.sinceMs;
      if (outcome.kind === "ended") tell(watched, { kind: "answered", afterMs });
      else if (outcome.kind === "stopped" || outcome.error.code === "cancelled") tell(watched, { kind: "left" });
      else tell(watched, { kind: "failed", afterMs, error: outcome.error });
    },
  });
}
