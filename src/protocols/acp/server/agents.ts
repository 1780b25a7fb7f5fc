import {
  AgentError,
  type AgentEvent,
  type Call,
  type Card,
  type Envelope,
  isObject,
  type LossSink,
  type Maybe,
  RecentMap,
  type Task,
} from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import type { RunFacts } from "../codec.js";

/** The default agent. */
export function defaultAgent(host: Host): Card {
  const [card] = host.cards();
  if (card === undefined) throw new AgentError("internal", "the host serves no agent");
  return card;
}

/** Cached until the host serves other agents: there may be a thousand, and every request needs it. */
const byNames = new WeakMap<readonly Card[], ReadonlyMap<string, Card>>();

function byName(host: Host): ReadonlyMap<string, Card> {
  const cards = host.cards();
  const known = byNames.get(cards);
  if (known !== undefined) return known;
  const made = new Map(cards.map((card) => [card.name, card]));
  byNames.set(cards, made);
  return made;
}

/** `field`: the request member with the name. */
export function agentNamed(host: Host, name: string, field = "agent_name"): Card {
  const card = byName(host).get(name);
  if (card === undefined) throw new AgentError("not_found", "unknown agent", { field });
  return card;
}

/** The members of a run other than its task or its message. */
export function runFacts(host: Host, event: AgentEvent, call: Call): RunFacts {
  const reportLoss: LossSink = (loss) => call.reportLoss(loss);
  if (event.kind === "task") return { agentName: agentOf(host, event.task), createdAt: createdAt(host, event.task), reportLoss };
  return {
    agentName: call.agent,
    createdAt: event.kind === "message" ? Math.round(event.message.ts * 1000) : host.now(),
    reportLoss,
  };
}

/** The envelope metadata member with the agent of a run, if its address is another one. */
const AGENT_MEMBER = "agent_name";

/** Addresses the message to this agent. A task does not name its agent, and a caller may use another name for it. */
export function addressedTo(host: Host, agent: string, envelope: Envelope): Envelope {
  if (host.cards().length === 1 || namesIn(envelope)[0] === agent) return envelope;
  const acp = envelope.extra?.["acp"];
  const kept = { ...(isObject(acp) ? acp : undefined), [AGENT_MEMBER]: agent };
  return { ...envelope, extra: { ...envelope.extra, acp: kept } };
}

/** The agent of a task: from its address, or from the messages of the agent. */
export function agentOf(host: Host, { history, status }: Task): string {
  const served = byName(host);
  const named = (message: Envelope): Maybe<string> => namesIn(message).find((name) => served.has(name));
  for (const message of history) {
    const name = named(message);
    if (name !== undefined) return name;
  }
  return (status.message && named(status.message)) ?? defaultAgent(host).name;
}

/** The agent of a message, most reliable source first. */
function namesIn({ role, src, dst, extra }: Envelope): readonly string[] {
  if (role === "agent") return [src];
  const acp = extra?.["acp"];
  const named = isObject(acp) ? acp[AGENT_MEMBER] : undefined;
  return typeof named === "string" ? [named, dst] : [dst];
}

/** How many start times are cached per host. */
const START_TIMES_CACHED = 10_000;
const startTimes = new WeakMap<Host, { readonly known: RecentMap<RunStart>; count: number }>();

/** When a run started. `order` separates runs that started in the same millisecond. */
export interface RunStart {
  readonly at: number;
  readonly order: number;
}

/**
 * The timestamp of the first message, but never later than the task's status. A task from another protocol may have no
 * message, or one as recent as its answer, so the first value is cached and reported from then on.
 */
export function startOf(host: Host, { id, history, status }: Task): RunStart {
  const times = startTimes.get(host) ?? { known: new RecentMap<RunStart>(START_TIMES_CACHED), count: 0 };
  startTimes.set(host, times);
  const cached = times.known.get(id);
  if (cached !== undefined) return cached;
  const [first] = history;
  const at = first === undefined ? status.at : Math.min(Math.round(first.ts * 1000), status.at);
  const start: RunStart = { at, order: ++times.count };
  times.known.set(id, start);
  return start;
}

export function createdAt(host: Host, task: Task): number {
  return startOf(host, task).at;
}
