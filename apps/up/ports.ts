import { once } from "node:events";
import { createServer } from "node:net";
import { AgentError } from "../../src/index.js";

export const LOOPBACK = "127.0.0.1";

/** Gives out ports, none of them twice. Until a process takes its port somebody else on the machine may. */
export class Ports {
  readonly #owners = new Map<number, string>();

  /** The port that is wanted, or any free one. Throws AgentError where somebody has it already. */
  async take(owner: string, wanted?: number): Promise<number> {
    const port = wanted === undefined ? await this.#anyFree() : wanted;
    if (wanted !== undefined) await this.#check(wanted, owner);
    this.#owners.set(port, owner);
    return port;
  }

  /** The system may name the same one again, as nobody listens there yet. */
  async #anyFree(): Promise<number> {
    for (;;) {
      const port = await listenOnce(0);
      if (!this.#owners.has(port)) return port;
    }
  }

  async #check(port: number, owner: string): Promise<void> {
    const other = this.#owners.get(port);
    if (other !== undefined) throw taken(port, owner, `is that of ${other} already`);
    try {
      await listenOnce(port);
    } catch (thrown) {
      const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
      throw taken(port, owner, code === "EADDRINUSE" ? "is taken" : `cannot be listened on (${code})`);
    }
  }
}

function taken(port: number, owner: string, why: string): AgentError {
  return new AgentError("conflict", `port ${port} of module ${owner} ${why}`);
}

async function listenOnce(wanted: number): Promise<number> {
  const server = createServer();
  server.listen(wanted, LOOPBACK);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : wanted;
}
