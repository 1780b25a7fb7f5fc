import { conformanceAgent, conformanceSkill } from "../../../conformance/index.js";
import { type Agent, type AgentFunction, agent, type Envelope, type Loss, textOf } from "../../../src/index.js";

/** An agent that does what a message commands, and remembers what was said to it and what it was told to stop. */
export interface Worker {
  readonly agent: Agent;
  /** The messages that came with this text, oldest first. */
  heard(text: string): readonly Envelope[];
  /** What its own host could not put on the wire since this was last asked. */
  takeLosses(): readonly Loss[];
  /** Resolves when work on a message with this text has begun. */
  began(text: string): Promise<void>;
  /** Resolves when the work on a message with this text was stopped. Only work that waits for that knows. */
  stopped(text: string): Promise<void>;
}

export function createWorker(answers: AgentFunction = conformanceAgent): Worker {
  const heard: Envelope[] = [];
  const [began, stopped] = [new Moments(), new Moments()];
  const handle: AgentFunction = (message, task) => {
    heard.push(message);
    began.reach(message.text);
    // Only work that waits to be stopped asks for the signal: it costs.
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
    heard: (text) => heard.filter((message) => textOf(message.content) === text),
    began: (text) => began.reached(text),
    stopped: (text) => stopped.reached(text),
  };
}

/** Things that happen once, and may be waited for before or after. */
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
