import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from "node:http2";
import { connect as connectSocket, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Exchange, Intake } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../../src/transport/limits.js";
import { type Listening, type ListenOptions, listen } from "../../src/transport/node/listen.js";
import { type Authority, makeAuthority, type Pair } from "../certificates.js";

/** Resources of a test, closed in reverse order. */
export class Opened {
  readonly #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  async serve(exchange: Exchange | Intake, limits: Partial<Limits> = {}, more: Partial<ListenOptions> = {}): Promise<Listening> {
    const listening = await listen(exchange, { port: 0, limits: { ...DEFAULT_LIMITS, drainMs: 50, ...limits }, ...more });
    this.add(() => listening.close());
    return listening;
  }

  /** Node's own HTTP/2 client, connected. */
  async session({ url }: Listening, ca?: string): Promise<ClientHttp2Session> {
    const session = connect(url, ca === undefined ? {} : { ca });
    this.add(() => session.destroy());
    session.on("error", () => undefined);
    await new Promise((resolve) => session.once("remoteSettings", resolve));
    return session;
  }

  /** A raw socket, in clear or under TLS with the given ALPN protocol. */
  async dial({ port }: Listening, secure?: { readonly ca: string; readonly alpn: string }): Promise<Raw> {
    const socket =
      secure === undefined
        ? connectSocket(port, "127.0.0.1")
        : connectTls({ port, host: "127.0.0.1", ca: secure.ca, ALPNProtocols: [secure.alpn] });
    this.add(() => socket.destroy());
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
    });
    const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
    await new Promise((resolve) => socket.on(secure === undefined ? "connect" : "secureConnect", resolve));
    return { socket, closed };
  }
}

export interface Raw {
  readonly socket: Socket;
  /** The bytes received until it closed. */
  readonly closed: Promise<string>;
}

export interface Answer {
  readonly headers: { readonly [name: string]: unknown };
  readonly body: string;
  readonly trailers: { readonly [name: string]: unknown } | undefined;
  /** True if the head was the whole response. */
  readonly headOnly: boolean;
  readonly rstCode: number | undefined;
}

/** Sends one request and reads its whole response, however it ends. */
export function ask(session: ClientHttp2Session, head: OutgoingHttpHeaders, body?: string | Buffer): Promise<Answer> {
  const stream = session.request(head, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}

export function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  let headers = {};
  let headOnly = false;
  let trailers: Answer["trailers"];
  const pieces: Buffer[] = [];
  stream.on("response", (fields, flags) => {
    headers = fields;
    headOnly = (flags & 1) === 1;
  });
  stream.on("trailers", (fields) => {
    trailers = fields;
  });
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("error", () => undefined);
  return new Promise((resolve) => {
    stream.on("close", () =>
      resolve({ headers, body: Buffer.concat(pieces).toString(), trailers, headOnly, rstCode: stream.rstCode }),
    );
  });
}

export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

/** Polls until the condition holds. */
export function gate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

export interface Secured {
  readonly authority: Authority;
  readonly pair: Pair;
}

/** A certificate authority, and a certificate of it for this machine. */
export async function secured(): Promise<Secured> {
  const authority = await makeAuthority();
  return { authority, pair: await authority.issue({ hosts: ["localhost", "127.0.0.1"] }) };
}
