import { once } from "node:events";
import { createServer } from "node:net";
import { AgentError } from "../../src/index.js";

export const LOOPBACK = "127.0.0.1";

/** Allocates distinct ports. Another process may still take one before it is used. */
export class Ports {
  readonly #owners = new Map<number, string>();

  /** Allocates the wanted port or any free one. Throws AgentError if it is in use. */
  async take(owner: string, wanted?: number): Promise<number> {
    const port = wanted === undefined ? await this.#anyFree() : wanted;
    if (wanted !== undefined) await this.#check(wanted, owner);
    this.#owners.set(port, owner);
    return port;
  }

  /** The system may return the same port again, because it is not in use yet. */
  async #anyFree(): Promise<number> {
    for (;;) {
      const port = await listenOnce(0);
      if (!this.#owners.has(port)) return port;
    }
  }

  async #check(port: number, owner: string): Promise<void> {
    const other = this.#owners.get(port);
    if (other !== undefined) throw portConflict(port, owner, `is already used by module ${other}`);
    try {
      await listenOnce(port);
    } catch (thrown) {
      const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
      throw portConflict(port, owner, code === "EADDRINUSE" ? "is already in use" : `cannot be listened on (${code})`);
    }
  }
}

function portConflict(port: number, owner: string, why: string): AgentError {
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
