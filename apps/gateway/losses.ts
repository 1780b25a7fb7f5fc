import type { LossReport } from "../../src/index.js";
import type { CountedLoss } from "../../src/internal.js";

/** The loss reports of one agent. */
export interface LossSource {
  readonly name: string;
  readonly lossReports: readonly LossReport[];
}

/** Translation losses between callers and one agent. */
export interface AgentLosses {
  readonly agent: string;
  /** Number of messages, so that an empty list has a meaning. */
  readonly messages: number;
  /** Most frequent first. */
  readonly losses: readonly CountedLoss[];
  /** Number of losses of kinds beyond the limit. */
  readonly others: number;
}

/** Sums the loss reports of a run by agent name. */
export function lossesOf(sources: readonly LossSource[]): readonly AgentLosses[] {
  const byName = new Map<string, { messages: number; others: number; readonly kinds: Map<string, CountedLoss> }>();
  for (const { name, lossReports } of sources) {
    const sum = byName.get(name) ?? { messages: 0, others: 0, kinds: new Map() };
    byName.set(name, sum);
    for (const report of lossReports) {
      sum.messages += report.messages;
      sum.others += report.others;
      for (const loss of report.losses()) {
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

/** Turns a sum into a source, so that closed supervisors can be released. */
export function lossSource({ agent, messages, losses, others }: AgentLosses): LossSource {
  return { name: agent, lossReports: [{ messages, others, losses: () => losses }] };
}
