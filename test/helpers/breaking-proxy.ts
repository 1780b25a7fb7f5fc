import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Passes requests on, or closes their connections instead of an answer. */
export class BreakingProxy {
  /** How many of the next requests lose their connection. */
  breaks = 0;
  /** Those reach the server first. */
  passesBroken = false;
  /** How many did. */
  broken = 0;
  readonly #server: Server;
  readonly #upstream: () => string;

  private constructor(upstream: () => string) {
    this.#upstream = upstream;
    this.#server = createServer((request, response) => this.#pass(request, response));
  }

  /** In front of the server at this address, which may start later. */
  static async open(upstream: () => string): Promise<BreakingProxy> {
    const proxy = new BreakingProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // bound to TCP
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const breaks = this.breaks > 0;
    if (breaks) {
      this.breaks--;
      this.broken++;
    }
    if (breaks && !this.passesBroken) {
      request.socket.destroy();
      return;
    }
    const { method, headers, url = "/" } = request;
    const onward = httpRequest(new URL(url, this.#upstream()), { method, headers }, (answer) => {
      if (breaks) {
        answer.resume().on("end", () => request.socket.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => request.socket.destroy());
    request.pipe(onward);
  }
}
