import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type AgentError, type Cancel, CancelSource } from "../../envelope/index.js";
import type { Connection, Headers, Request } from "../exchange.js";
import { readJson } from "../json.js";
import { splitTarget } from "../request.js";

/** Where a request is addressed, below the mount point. */
export interface Address {
  /** As the peer wrote it, mount point included. */
  readonly url: string;
  readonly path: string;
  readonly query: string;
}

/** A request as Node received it. Members that cost something are made when somebody asks. */
export class Incoming implements Request {
  readonly #message: IncomingMessage;
  readonly #address: Address;
  readonly #jsonDepth: number;
  readonly body: Uint8Array;
  #json: unknown;
  #parsed = false;
  #cancel: CancelSource | undefined;
  #gone: AgentError | undefined;
  #connection: Connection | undefined;

  constructor(message: IncomingMessage, address: Address, body: Uint8Array, jsonDepth: number) {
    this.#message = message;
    this.#address = address;
    this.body = body;
    this.#jsonDepth = jsonDepth;
  }

  get method(): string {
    return this.#message.method ?? "GET"; // always there on a server's message
  }

  get path(): string {
    return this.#address.path;
  }

  get query(): string {
    return this.#address.query;
  }

  get target(): string {
    const { url } = this.#address;
    if (url.charCodeAt(0) !== 0x2f && url.includes("://")) return url;
    return `${this.connection.secure ? "https" : "http"}://${this.#message.headers.host ?? ""}${url}`;
  }

  get headers(): Headers {
    return headersOf(this.#message);
  }

  get rawHeaders(): readonly string[] {
    return this.#message.rawHeaders;
  }

  get connection(): Connection {
    this.#connection ??= connectionOf(this.#message);
    return this.#connection;
  }

  get cancel(): Cancel {
    if (this.#cancel === undefined) {
      this.#cancel = new CancelSource();
      if (this.#gone !== undefined) this.#cancel.cancel(this.#gone);
    }
    return this.#cancel;
  }

  json(): unknown {
    if (!this.#parsed) {
      this.#json = readJson(this.body, this.#jsonDepth);
      this.#parsed = true;
    }
    return this.#json;
  }

  /** The other side is not there any more. */
  hangUp(reason: AgentError): void {
    this.#gone = reason;
    this.#cancel?.cancel(reason);
  }
}

/** Node joins repeated fields itself, except `set-cookie`, which has no business in a request. */
export function headersOf(message: IncomingMessage): Headers {
  const { headers } = message;
  if (headers["set-cookie"] !== undefined) delete headers["set-cookie"];
  return headers as Headers; // without set-cookie every value is a string
}

export function addressOf(url: string): Address {
  if (url.charCodeAt(0) !== 0x2f) {
    const { path, query } = splitTarget(url);
    return { url, path, query };
  }
  const mark = url.indexOf("?");
  if (mark === -1) return { url, path: url, query: "" };
  return { url, path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function connectionOf(message: IncomingMessage): Connection {
  const { socket, headers } = message;
  const remote = socket.remoteAddress ?? "";
  const forwarded =
    headers["forwarded"] !== undefined ||
    headers["x-forwarded-for"] !== undefined ||
    headers["x-forwarded-host"] !== undefined ||
    headers["x-forwarded-proto"] !== undefined ||
    headers["x-real-ip"] !== undefined ||
    headers["via"] !== undefined;
  return {
    remote,
    secure: isSecure(socket),
    loopback: !forwarded && isLoopback(remote),
    clientCertificate: isSecure(socket) && socket.authorized ? socket.getPeerCertificate().raw : undefined,
  };
}

function isSecure(socket: Socket): socket is TLSSocket {
  return "encrypted" in socket && socket.encrypted === true;
}

/** 127.0.0.0/8 and ::1, also where IPv4 is written as IPv6. */
export function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.") || address.startsWith("::ffff:127.");
}
