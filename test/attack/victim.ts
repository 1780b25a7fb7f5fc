import { connect, DiscoveryCache, type RemoteAgent } from "../../src/index.js";
import { type Stage, TOKENS } from "./stage.js";

/** Another caller of the gateway, with a finished task and one that waits for its input. */
export class Victim {
  readonly #peer: RemoteAgent;
  readonly #finished: string;
  readonly #waiting: string;

  private constructor(peer: RemoteAgent, finished: string, waiting: string) {
    this.#peer = peer;
    this.#finished = finished;
    this.#waiting = waiting;
  }

  static async open(stage: Stage): Promise<Victim> {
    const peer = await connect(stage.url, {
      discoveryCache: new DiscoveryCache(),
      credentials: { bearer: TOKENS.bob, tls: { ca: stage.authority.ca } },
    });
    const [finished, waiting] = [await peer.send("task"), await peer.send("ask")];
    if (finished.kind !== "task" || waiting.kind !== "task") throw new Error("the agent did not make tasks");
    return new Victim(peer, finished.task.id, waiting.task.id);
  }

  /** What this caller had before, and has no more. */
  async lost(): Promise<readonly string[]> {
    const checks: readonly (readonly [string, () => Promise<unknown>, unknown])[] = [
      ["a finished task", () => this.#stateOf(this.#finished), "completed"],
      ["a task that waits for input", () => this.#stateOf(this.#waiting), "input-required"],
      ["a new task", () => this.#newTask(), "completed"],
      ["an answer", () => this.#peer.ask("hello"), "echo hello"],
    ];
    const lost: string[] = [];
    for (const [what, look, expected] of checks) {
      const found = await look().catch((thrown: unknown) => String(thrown));
      if (found !== expected) lost.push(`${what} (${String(found)})`);
    }
    return lost;
  }

  close(): Promise<void> {
    return this.#peer.close();
  }

  async #newTask(): Promise<string> {
    const event = await this.#peer.send("task");
    return event.kind === "task" ? event.task.status.state : event.kind;
  }

  async #stateOf(id: string): Promise<string> {
    return (await this.#peer.getTask(id)).status.state;
  }
}
