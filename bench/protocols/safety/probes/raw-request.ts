import { request as requestClear } from "node:http";
import { request as requestTls } from "node:https";
import { connect as dial } from "node:net";
import { type ConnectionOptions, DEFAULT_CIPHERS, connect as dialTls } from "node:tls";
import { errorsOf, type RawAnswer, type SentRequest } from "../members/tasks.js";

/** Requests and bytes of an attacker, who uses no client of any protocol. */

const TIMEOUT_MS = 5_000;
/** After an answer, on a connection that stays open. */
const QUIET_MS = 500;
const SHOWN_CHARS = 16_384;
/** Fields that prove the caller: RFC 9110, RFC 6265 and RFC 9421. */
const PROOFS = /^(authorization|cookie|signature|signature-input)$/;
/** Set anew for every sending. */
const HOP_FIELDS = /^(connection|content-length|transfer-encoding|keep-alive)$/;

export interface RawOptions {
  readonly ca: string;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Sends a captured request once more, over a connection of its own. The server's certificate is not checked: attackers do not. */
export function resend(
  sent: Pick<SentRequest, "method" | "url" | "headers" | "body">,
  { ca, cert, key }: RawOptions,
): Promise<RawAnswer> {
  const isTls = sent.url.startsWith("https:");
  const headers = Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !HOP_FIELDS.test(name)));
  // Level 0: what is too weak is for the server to say.
  const tls = { ca, cert, key, rejectUnauthorized: false, ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` };
  const options = { method: sent.method, headers, agent: false as const, timeout: TIMEOUT_MS, ...(isTls ? tls : {}) };
  return new Promise((resolve) => {
    const request = (isTls ? requestTls : requestClear)(sent.url, options, (response) => {
      let body = "";
      const done = (): void =>
        resolve({ status: response.statusCode, headers: flat(response.headers), body: body.slice(0, SHOWN_CHARS) });
      response.on("data", (piece: Buffer) => {
        if (body.length < SHOWN_CHARS) body += piece.toString("utf8");
      });
      response.on("end", done).on("error", done);
    });
    request.on("timeout", () => request.destroy(new Error("timeout")));
    request.on("error", (error) => resolve({ errors: errorsOf(error) }));
    request.end(sent.method === "GET" ? undefined : sent.body);
  });
}

function flat(headers: NodeJS.Dict<string | string[]>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Without what proves the caller, and with this token instead. Empty: with nothing. */
export function withToken<T extends Pick<SentRequest, "headers">>(sent: T, token: string): T {
  const rest = Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !PROOFS.test(name)));
  const proof = token === "" ? {} : { authorization: `Bearer ${token}`, cookie: `session=${encodeURIComponent(token)}` };
  return { ...sent, headers: { ...rest, ...proof } };
}

/** A captured request as the bytes of HTTP/1.1. */
export function bytesOf({ method, url, headers, body }: Pick<SentRequest, "method" | "url" | "headers" | "body">): Buffer {
  const { host, pathname, search } = new URL(url);
  const fields = Object.entries(headers).filter(([name]) => !HOP_FIELDS.test(name) && name !== "host");
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([
    Buffer.from(`${[...head, `content-length: ${body.length}`, "connection: close"].join("\r\n")}\r\n\r\n`),
    body,
  ]);
}

export interface ReceivedBytes {
  readonly received: Buffer;
  /** The peer ended the connection. */
  readonly ended: boolean;
  readonly errors: readonly string[];
}

/** What came back for bytes of HTTP, from a port that may speak TLS instead. */
export function answerIn({ received, ended, errors }: ReceivedBytes): RawAnswer {
  const failed = errors.length > 0 && { errors };
  if (received.length === 0) return { closed: ended, ...failed };
  const text = received.toString("latin1");
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (status !== undefined) return { status: Number(status), body: text.slice(0, SHOWN_CHARS) };
  // A TLS record of type 21: level and description of the alert follow its header.
  return received[0] === TLS_ALERT ? { errors: [`alert number ${received[6]}`] } : { closed: ended, ...failed };
}

const TLS_ALERT = 0x15;

/** Writes bytes to a port and reads until the peer ends the connection, is quiet after an answer, or says nothing for too long. */
export function sendBytes(port: number, bytes: Buffer): Promise<ReceivedBytes> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const errors: string[] = [];
    let ended = false;
    const socket = dial({ port, host: "127.0.0.1" }, () => socket.write(bytes));
    let timer = setTimeout(() => socket.destroy(new Error("timeout")), TIMEOUT_MS);
    socket.on("data", (piece) => {
      pieces.push(piece);
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), QUIET_MS);
    });
    socket.on("end", () => {
      ended = true;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET" || error.code === "EPIPE") ended = true;
      else errors.push(...errorsOf(error));
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve({ received: Buffer.concat(pieces), ended, errors });
    });
  });
}

export interface Handshake {
  /** Version and suite that were agreed on. Undefined: it failed. */
  readonly completed: string | undefined;
  readonly errors: readonly string[];
}

/** A TLS handshake with these options. */
export function handshake(port: number, options: ConnectionOptions): Promise<Handshake> {
  return new Promise((resolve) => {
    const socket = dialTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["http/1.1"], ...options });
    const timer = setTimeout(() => socket.destroy(new Error("timeout")), TIMEOUT_MS);
    const done = (completed: string | undefined, errors: readonly string[]): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ completed, errors });
    };
    socket.on("secureConnect", () => done(`${socket.getProtocol()} ${socket.getCipher()?.standardName}`, []));
    socket.on("error", (error) => done(undefined, errorsOf(error)));
    socket.on("close", () => done(undefined, []));
  });
}
