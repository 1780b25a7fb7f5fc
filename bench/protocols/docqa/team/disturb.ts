import { chance } from "../../../harness/chance.js";
import type { Team } from "../plan/manifest.js";
import type { Disturbance } from "./disturbances.js";
import type { TeamMessage } from "./message.js";

/** How many messages of each question are disturbed, and how. */
export interface Disturbances {
  readonly kind: Disturbance;
  readonly count: number;
  readonly seed: number;
}

const SPREAD = 0x27d4eb2f;

/**
 * Whether a message is one of those. Decided from the seed and the question alone, so that the same ones are disturbed in every arm. Of
 * facts that come in several messages it is one of the first two; only their order can be disturbed.
 */
export function isDisturbed(message: TeamMessage, to: string, team: Team, { kind, count, seed }: Disturbances): boolean {
  if (message.kind === "question") return false;
  const random = chance((seed ^ Math.imul(message.asked + 1, SPREAD)) >>> 0);
  const keys = [
    ...(kind === "reorder" ? [] : team.workflow.start.map((id) => `start ${team.workflow.final} ${id} 0`)),
    ...team.workflow.message_flow
      .filter((flow) => kind !== "reorder" || isSeveral(team, flow))
      .map(({ from, to: id, fact }) => `${fact} ${from} ${id}`),
  ]
    .map((key) => ({ key, at: random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ key }) => key);
  if (message.kind === "start") return keys.includes(`start ${message.from} ${to} 0`);
  const { fact, from, n } = message;
  const several = isSeveral(team, { from, fact });
  // The first one is what must change its place.
  const which = several && kind !== "reorder" ? message.asked % 2 : 0;
  return keys.includes(`${fact} ${from} ${to}`) && n === which;
}

/** Whether a fact comes in several messages. */
export function isSeveral({ agents }: Team, { from, fact }: { readonly from: string; readonly fact: string }): boolean {
  const calls = agents.find(({ id }) => id === from)?.steps.flatMap(({ calls: each }) => each) ?? [];
  return calls.some(({ gives, as }) => gives === fact && as === "each");
}
