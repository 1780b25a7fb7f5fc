import type { AgentError, AgentHealth, Maybe } from "../../src/index.js";
import type { PolicySink } from "../../src/public/policies.js";
import type { LogSink } from "../../src/public/telemetry.js";
import type { Health, UpstreamMonitor } from "./upstream-monitor.js";
import { GATEWAY } from "./upstream-monitor.js";

/** An agent of the gateway with its upstreams. */
interface Supervised {
  readonly name: string;
  readonly health: Health;
  readonly problem: UpstreamMonitor["problem"];
  readonly upstreams: readonly UpstreamMonitor[];
}

/** Usable while one upstream is. The problems name addresses and causes: they are for the operator. */
export function agentHealth({ health, problem, upstreams }: Supervised): AgentHealth {
  const problems = upstreams.flatMap((each) =>
    each.problem === undefined ? [] : [`${each.config.url}: ${each.problem.message}`],
  );
  const unusable = problem !== undefined || health !== "up";
  return { usable: !unusable, problems: problems.length === 0 && problem !== undefined ? [problem.message] : problems };
}

interface NotedUpstream {
  changed(): void;
  /** Undefined until it is known. */
  protocol(): Maybe<string>;
}

/** Notes of an upstream carry its protocol, and a breaker that opens or closes is a change of health. */
export function upstreamNotes(notes: PolicySink, { changed, protocol }: NotedUpstream): PolicySink {
  return (note) => {
    notes(note.protocol === undefined ? { ...note, protocol: protocol() } : note);
    if (note.kind === "circuit") changed();
  };
}

export interface HealthChangeSinks {
  /** For the page. */
  record(agent: string, summary: string): void;
  /** One line for the operator's terminal. Undefined while the start report is not out yet. */
  notify(): Maybe<(line: string) => void>;
  readonly log: Maybe<LogSink>;
  now(): number;
}

/** Reports each change of an agent's or an upstream's health once: on the page, on the terminal and in the log. */
export class HealthChanges {
  readonly #sinks: HealthChangeSinks;
  #agent: Health = "starting";
  readonly #upstreams = new Map<string, Health>();

  constructor(sinks: HealthChangeSinks) {
    this.#sinks = sinks;
  }

  report(supervisor: Supervised): void {
    for (const { id, health, problem, remote } of supervisor.upstreams) {
      if (health === (this.#upstreams.get(id) ?? "starting")) continue;
      this.#upstreams.set(id, health);
      this.#log(id, { health, protocol: remote?.protocol, problem });
    }
    const { name, health } = supervisor;
    if (health === this.#agent) return;
    this.#agent = health;
    const { problem } = supervisor;
    this.#sinks.record(name, problem === undefined ? `is ${health}` : `is ${health}: ${problem.message}`);
    // Callers see neither address nor cause of an unreachable upstream; the operator does.
    this.#sinks.notify()?.([`Agent "${name}" is ${health}`, ...agentHealth(supervisor).problems].join("; "));
  }

  #log(
    id: string,
    {
      health,
      protocol,
      problem,
    }: { readonly health: Health; readonly protocol: Maybe<string>; readonly problem: Maybe<AgentError> },
  ): void {
    this.#sinks.log?.({
      time: new Date(this.#sinks.now()).toISOString(),
      level: health === "down" ? "warn" : "info",
      event: "koine.health",
      message: `${id} is ${health}`,
      trace_id: undefined,
      src_agent: GATEWAY,
      dst_id: id,
      protocol: protocol ?? "other",
      health,
      // The codes only: the text may come from a peer.
      error: problem?.code,
      face: problem?.face,
    });
  }
}
