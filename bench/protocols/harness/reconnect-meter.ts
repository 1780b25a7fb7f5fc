import type { BenchEvent, NoteEvent } from "../result/index.js";
import { edgeBetween } from "../result/witness.js";
import type { EdgeCounts } from "../wire/edge-proxy.js";

export interface MeterParts {
  counts(): Promise<Readonly<Record<string, EdgeCounts>>>;
  emit(event: BenchEvent): void;
}

/** Counts what an agent that was started again sends and gets over its own connections, until a peer has accepted it. */
export class ReconnectMeter {
  readonly #parts: MeterParts;
  readonly #before = new Map<string, EdgeCounts>();

  constructor(parts: MeterParts) {
    this.#parts = parts;
  }

  /** The process of this agent is about to be started again. */
  async begin(agent: string): Promise<void> {
    this.#before.set(agent, await this.#countsOf(agent));
  }

  /** Emits the difference when the agent says that it is back. */
  async see({ kind, agent, run, ns }: NoteEvent): Promise<void> {
    const before = this.#before.get(agent);
    if (kind !== "rejoined" || before === undefined) return;
    this.#before.delete(agent);
    const after = await this.#countsOf(agent);
    const values = {
      connections: after.connections - before.connections,
      sent: after.sent - before.sent,
      received: after.received - before.received,
    };
    this.#parts.emit({ type: "note", run, agent, kind: "reconnect", ns, values });
  }

  async #countsOf(agent: string): Promise<EdgeCounts> {
    const sum = { connections: 0, sent: 0, received: 0 };
    for (const [edge, counts] of Object.entries(await this.#parts.counts())) {
      if (!edge.startsWith(edgeBetween(agent, ""))) continue;
      sum.connections += counts.connections;
      sum.sent += counts.sent;
      sum.received += counts.received;
    }
    return sum;
  }
}
