import { teamBehaviour } from "../docqa/team/behaviour.js";
import type { BehaviourFactory } from "./behaviour.js";
import { shardRing } from "./shard-ring.js";

/** What agents do with messages, by the name that a scenario gives it. One line per behaviour. */
export const BEHAVIOURS: Readonly<Record<string, BehaviourFactory>> = {
  docqa: teamBehaviour,
  "shard-ring": shardRing,
};
