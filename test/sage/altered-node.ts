import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request of JSON-RPC, and what the real node answers to it. */
export interface Exchange {
  readonly method: string;
  readonly answer: { readonly [member: string]: unknown };
}

/** Writes the response. */
export type Alteration = (exchange: Exchange, response: ServerResponse) => void;

/** A node in front of a real one that alters its answers. */
export class AlteredNode {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #rpc: string;
  /** How many requests came. */
  requests = 0;
  /** What they asked for. */
  readonly calls: string[] = [];
  alter: Alteration = passed;

  private constructor(rpc: string) {
    this.#rpc = rpc;
  }

  static async start(rpc: string): Promise<AlteredNode> {
    const node = new AlteredNode(rpc);
    await new Promise<void>((resolve) => node.#server.listen(0, "127.0.0.1", resolve));
    return node;
  }

  get rpc(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const real = await fetch(this.#rpc, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { method } = JSON.parse(body) as { method: string };
    this.calls.push(method);
    this.alter({ method, answer: (await real.json()) as Exchange["answer"] }, response);
  }

  /** Open connections to it. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export const passed: Alteration = ({ answer }, response) => void response.end(JSON.stringify(answer));

/** Another result to requests of a method. */
export function replaced(method: string, result: (result: unknown) => unknown): Alteration {
  return (exchange, response) => {
    const { answer } = exchange;
    passed(
      exchange.method === method ? { ...exchange, answer: { ...answer, result: result(answer["result"]) } } : exchange,
      response,
    );
  };
}
