import {
  createServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";

/** One request a webhook got. */
export interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. Tests name the members they read. */
  // biome-ignore lint/suspicious/noExplicitAny: any body of a sender
  readonly body: any;
}

export type Answer = (response: ServerResponse, count: number) => void;

/** A real webhook on a loopback port with responses chosen by the test. */
export class Hook {
  readonly got: Got[] = [];
  port = 0;
  readonly #server: HttpServer;

  private constructor(answer: Answer, pair?: { readonly cert: string; readonly key: string }) {
    const listener: RequestListener = (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        this.got.push({ headers: request.headers, text, body: text === "" ? undefined : JSON.parse(text) });
        answer(response, this.got.length);
      });
    };
    this.#server = pair === undefined ? createServer(listener) : createTlsServer(pair, listener);
  }

  static async open(answer: Answer = ok, pair?: { readonly cert: string; readonly key: string }): Promise<Hook> {
    const hook = new Hook(answer, pair);
    await new Promise<void>((resolve) => hook.#server.listen(0, "127.0.0.1", resolve));
    // It listens on a port.
    hook.port = (hook.#server.address() as AddressInfo).port;
    return hook;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook?secret=in-the-url`;
  }

  /** Waits until this many requests have arrived. */
  async count(many: number): Promise<readonly Got[]> {
    await expect.poll(() => this.got.length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(many);
    return this.got;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export const ok: Answer = (response) => void response.writeHead(204).end();

export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end();
}
