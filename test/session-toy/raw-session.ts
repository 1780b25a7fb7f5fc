import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { isObject, type JsonObject } from "../../src/envelope/index.js";
import { SUBPROTOCOL } from "./wire.js";

export interface RawOptions {
  readonly subprotocols?: readonly string[];
  readonly headers?: { readonly [name: string]: string };
  readonly ca?: string;
}

/** The response to an upgrade request that was not accepted. */
export interface Refused {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
}

/** A session as another implementation sees it: messages in and out, nothing of the toy's client. */
export class RawSession {
  readonly #socket: WebSocket;
  readonly #received: JsonObject[] = [];
  #waiting: { resolve(message: JsonObject): void; reject(reason: Error): void } | undefined;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data, isBinary) => this.#take(isBinary ? data : JSON.parse(String(data))));
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        this.#waiting?.reject(new Error(`the session ended (${code})`));
        resolve({ code, reason: String(reason) });
      });
    });
    socket.on("error", () => undefined); // always followed by close
  }

  /** Rejects with the refusal. */
  static open(url: string, { subprotocols = [SUBPROTOCOL], headers = {}, ca }: RawOptions = {}): Promise<RawSession> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, [...subprotocols], { headers: { ...headers }, ...(ca === undefined ? {} : { ca }) });
      const session = new RawSession(socket);
      socket.once("open", () => resolve(session));
      socket.once("unexpected-response", (_request, response) => {
        response.resume();
        reject({ status: response.statusCode, headers: response.headers });
        socket.terminate();
      });
      socket.once("error", reject);
    });
  }

  /** The refusal of an upgrade request; throws if it is accepted. */
  static async refused(url: string, options: RawOptions = {}): Promise<Refused> {
    let session: RawSession;
    try {
      session = await RawSession.open(url, options);
    } catch (thrown) {
      return thrown as Refused; // what `open` rejects with
    }
    session.close();
    throw new Error("the upgrade was accepted");
  }

  /** Objects as JSON, everything else as it is. */
  send(message: JsonObject | string | Uint8Array): void {
    this.#socket.send(isObject(message) && !(message instanceof Uint8Array) ? JSON.stringify(message) : message);
  }

  /** The next message, received before or later. Rejects if the session ends first. */
  async next(): Promise<JsonObject> {
    const first = this.#received.shift();
    if (first !== undefined) return first;
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** The next message, which must be binary. */
  async nextBytes(): Promise<Buffer> {
    const message: unknown = await this.next();
    if (!Buffer.isBuffer(message)) throw new Error(`a text message: ${JSON.stringify(message)}`);
    return message;
  }

  close(): void {
    this.#socket.close(1000);
  }

  /** Without the closing handshake. */
  destroy(): void {
    this.#socket.terminate();
  }

  #take(message: JsonObject): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#received.push(message);
    else waiting.resolve(message);
  }
}

/** A call of the toy as the wire has it. */
export function ask(id: string, text: string, more: JsonObject = {}): JsonObject {
  const message = { id: `m-${id}`, at: 1_767_323_045.678, from: "raw", to: "worker", role: "user", parts: [{ text }] };
  return { id, op: "send", args: { delivery: "answer", message }, ...more };
}
