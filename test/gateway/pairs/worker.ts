import { conformanceAgent, conformanceSkill } from "../../../conformance/index.js";
import { type Agent, type AgentFunction, agent, type Envelope, type Loss, textOf } from "../../../src/index.js";

/** An agent that runs the command of a message, and records its messages and cancellations. */
export interface Worker {
  readonly agent: Agent;
  /** The messages received with this text, oldest first. */
  received(text: string): readonly Envelope[];
  /** The losses of its own host since the last call. */
  takeLosses(): readonly Loss[];
  /** Resolves when work on a message with this text has begun. */
  began(text: string): Promise<void>;
  /** Resolves when the work on a message with this text was cancelled, for work that waits for that. */
  stopped(text: string): Promise<void>;
}

export function createWorker(answers: AgentFunction = conformanceAgent): Worker {
  const received: Envelope[] = [];
  const [began, stopped] = [new Moments(), new Moments()];
  const handle: AgentFunction = (message, task) => {
    received.push(message);
    began.reach(message.text);
    // Only commands that wait for a cancel use the signal: it is expensive.
    if (message.text.startsWith("conform: wait")) task.signal.addEventListener("abort", () => stopped.reach(message.text));
    return answers(message, task);
  };
  const made = agent({ name: "worker", description: "does what a message commands", skills: [conformanceSkill], handle });
  let losses: Loss[] = [];
  return {
    agent: { ...made, onLoss: (loss) => void losses.push(loss) },
    takeLosses() {
      const taken = losses;
      losses = [];
      return taken;
    },
    received: (text) => received.filter((message) => textOf(message.content) === text),
    began: (text) => began.reached(text),
    stopped: (text) => stopped.reached(text),
  };
}

/** Named one-time events, which may be awaited before or after they happen. */
class Moments {
  readonly #reached = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  reach(name: string): void {
    this.#reached.add(name);
    this.#waiting.get(name)?.();
  }

  reached(name: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#reached.has(name)) resolve();
      else this.#waiting.set(name, resolve);
    });
  }
}
