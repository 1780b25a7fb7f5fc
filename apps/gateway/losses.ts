import type { LossReport } from "../../src/index.js";
import type { CountedLoss } from "../../src/internal.js";

/** An agent, and every account that was begun for it. */
export interface LossSource {
  readonly name: string;
  readonly accounts: readonly LossReport[];
}

/** What could not be carried between callers and one agent. */
export interface AgentLosses {
  readonly agent: string;
  /** Messages that went through, so that an empty list says something. */
  readonly messages: number;
  /** The most frequent first. */
  readonly losses: readonly CountedLoss[];
  /** Losses of kinds beyond the limit, which are only counted. */
  readonly others: number;
}

/** The accounts of a run, those of agents that were changed meanwhile put together. */
export function lossesOf(sources: readonly LossSource[]): readonly AgentLosses[] {
  const byName = new Map<string, { messages: number; others: number; readonly kinds: Map<string, CountedLoss> }>();
  for (const { name, accounts } of sources) {
    const sum = byName.get(name) ?? { messages: 0, others: 0, kinds: new Map() };
    byName.set(name, sum);
    for (const account of accounts) {
      sum.messages += account.messages;
      sum.others += account.others;
      for (const loss of account.losses()) {
        const kind = `${loss.protocol} ${loss.path} ${loss.reason}`;
        const known = sum.kinds.get(kind);
        sum.kinds.set(kind, known === undefined ? loss : { ...known, count: known.count + loss.count });
      }
    }
  }
  return Array.from(byName, ([agent, { messages, others, kinds }]) => ({
    agent,
    messages,
    others,
    losses: [...kinds.values()].toSorted((a, b) => b.count - a.count),
  }));
}

/** What was added up, as one more source: keepers can then be let go of. */
export function lossSource({ agent, messages, losses, others }: AgentLosses): LossSource {
  return { name: agent, accounts: [{ messages, others, losses: () => losses }] };
}
