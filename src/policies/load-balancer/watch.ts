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

/** Around one destination: reports each attempt's start to the selector, and learns task affinity from the first event. */
export function watchDestination(destination: Destination, selector: Selector, affinity: TaskAffinity, clock: Clock): Layer {
  const observe = (watched: Watched, observation: Observation): void => {
    watched.begun = true;
    selector.observe?.(destination, observation);
  };
  return around<Watched>({
    begin(_operation, call) {
      selector.callStarted?.(destination);
      return { owner: call.caller.owner, sinceMs: clock.now(), begun: false };
    },
    event(watched, event) {
      if (watched.begun) return;
      observe(watched, { kind: "answered", afterMs: clock.now() - watched.sinceMs });
      affinity.learn(watched.owner, event, destination);
    },
    end(watched, outcome) {
      if (watched.begun) return;
      const afterMs = clock.now() - watched.sinceMs;
      if (outcome.kind === "ended") observe(watched, { kind: "answered", afterMs });
      else if (outcome.kind === "stopped" || outcome.error.code === "cancelled") observe(watched, { kind: "left" });
      else observe(watched, { kind: "failed", afterMs, error: outcome.error });
    },
  });
}
