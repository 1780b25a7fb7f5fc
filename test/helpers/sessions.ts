import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { AgentError, type Maybe } from "../../src/envelope/index.js";
import type { BaseSession } from "../../src/transport/base-session.js";
import type { Chunk, HttpRequest, Intake, Link, RequestHead, Session, Upgraded } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS, type Limits } from "../../src/transport/limits.js";
import { memoryLink } from "../../src/transport/memory.js";
import { type Listening, listen } from "../../src/transport/node/listen.js";
import { type PoolOptions, poolLink } from "../../src/transport/node/pool.js";
import { makeRequest, type RequestStart } from "../../src/transport/request.js";
import { type Gate, gate, type Opened, type Secured } from "./sockets.js";

/** What carries a session. */
export type Carrier = "memory" | "clear" | "TLS";

/** The server of a test: its sessions in the order in which they were accepted, and what it was told. */
export interface SessionServer {
  readonly intake: Intake;
  readonly heads: RequestHead[];
  readonly abandoned: string[];
  readonly errors: unknown[];
  onError(thrown: unknown): void;
  /** The next session that is accepted. */
  next(): Promise<BaseSession>;
}

/** Accepts every upgrade, with the first offered subprotocol. `run` is the protocol; by default it waits for the end. */
export function sessionServer(
  run: (session: Session) => Promise<void> = async ({ closed }) => void (await closed),
  change: Partial<Upgraded> = {},
): SessionServer {
  const accepted: BaseSession[] = [];
  const waiting: ((session: BaseSession) => void)[] = [];
  const heads: RequestHead[] = [];
  const abandoned: string[] = [];
  const errors: unknown[] = [];
  const upgrade = (head: RequestHead): Upgraded => {
    heads.push(head);
    return {
      subprotocol: head.headers["sec-websocket-protocol"]?.split(",")[0],
      headers: {},
      accept(session) {
        const own = session as BaseSession; // every session of this package is one
        const resolve = waiting.shift();
        if (resolve === undefined) accepted.push(own);
        else resolve(own);
        return run(session);
      },
      abandon: () => void abandoned.push(head.path),
      ...change,
    };
  };
  const next = (): Promise<BaseSession> => {
    const first = accepted.shift();
    return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
  };
  return { intake: { take: ordinary, upgrade }, heads, abandoned, errors, next, onError: (thrown) => void errors.push(thrown) };
}

/** The same, but its decisions wait for the gate. */
export function hesitantServer(): SessionServer & { readonly late: Gate; readonly asked: Gate } {
  const server = sessionServer();
  const [late, asked] = [gate(), gate()];
  const heads: RequestHead[] = [];
  const upgrade: Intake["upgrade"] = async (head) => {
    heads.push(head);
    asked.open();
    await late.passed;
    return server.intake.upgrade?.(head) as Upgraded; // it has one
  };
  return { ...server, heads, late, asked, intake: { take: ordinary, upgrade } };
}

/** The protocol that returns every message. */
export async function echo(session: Session): Promise<void> {
  for await (const frame of session.frames) await session.send(frame);
}

/** Ordinary requests of a server with sessions. */
export const ordinary: Intake["take"] = () => ({
  bodyBytes: 1_000,
  unadmitted: false,
  exchange: (request) => ({ status: 200, headers: {}, body: `${request.method} ${request.path} ${request.body.length}` }),
});

export interface Carried {
  readonly link: Link;
  readonly url: string;
  open(start?: Partial<RequestStart>, subprotocols?: readonly string[]): Promise<BaseSession>;
}

/** Limits of a test: a shutdown is short. */
export function limitsOf(limits: Partial<Limits> = {}): Limits {
  return { ...DEFAULT_LIMITS, drainMs: 50, ...limits };
}

/** A link to the server over one of the carriers. */
export async function carry(
  carrier: Carrier,
  server: Pick<SessionServer, "intake" | "onError">,
  { opened, made, limits, pool }: { opened: Opened; made: Secured; limits?: Partial<Limits>; pool?: PoolOptions },
): Promise<Carried> {
  const { intake, onError } = server;
  const own = limitsOf(limits);
  if (carrier === "memory") return carried(memoryLink(intake, { limits: own, onError }), "ws://memory", opened);
  const listening = await listening_(intake, { limits: own, onError, tls: carrier === "TLS" ? made.pair : undefined }, opened);
  const tls = carrier === "TLS" ? { ca: made.authority.ca } : undefined;
  return carried(poolLink({ limits: own, tls, onError, ...pool }), listening.url.replace("http", "ws"), opened);
}

async function listening_(
  intake: Intake,
  options: { limits: Limits; onError: (thrown: unknown) => void; tls: Maybe<Secured["pair"]> },
  opened: Opened,
): Promise<Listening> {
  const listening = await listen(intake, { port: 0, ...options });
  opened.add(() => listening.close());
  return listening;
}

function carried(link: Link, url: string, opened: Opened): Carried {
  opened.add(() => link.close());
  const open = async (start: Partial<RequestStart> = {}, subprotocols: readonly string[] = []): Promise<BaseSession> => {
    const session = await link.open?.(upgradeTo(`${url}/s`, start), subprotocols);
    return session as BaseSession; // every session of this package is one
  };
  return { link, url, open };
}

export function upgradeTo(url: string, start: Partial<RequestStart> = {}): HttpRequest {
  return makeRequest({ method: "GET", url, ...start });
}

/** Reads the given number of messages. */
export async function read(session: Session, count: number): Promise<Chunk[]> {
  const frames: Chunk[] = [];
  const reader = session.frames[Symbol.asyncIterator]();
  while (frames.length < count) {
    const step = await reader.next();
    if (step.done === true) throw new Error(`ended after ${frames.length} messages`);
    frames.push(step.value);
  }
  return frames;
}

/** The error that the work ends with. */
export async function errorOf(work: unknown): Promise<AgentError> {
  try {
    await work;
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  throw new Error("no error");
}

export interface FrameOptions {
  readonly opcode?: number;
  readonly fin?: boolean;
  readonly mask?: boolean;
  /** Bits 1 to 3 of the first byte. */
  readonly rsv?: number;
}

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;

/** One frame by hand, RFC 6455 §5.2; with the mask 0, so that the payload stays readable. */
export function frame(payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = TEXT, fin = true, mask = true, rsv = 0 } = options;
  const bytes = Buffer.from(payload);
  const first = (fin ? 0x80 : 0) | rsv | opcode;
  const masked = mask ? 0x80 : 0;
  const head = Buffer.alloc(bytes.length < 126 ? 2 : 4);
  head[0] = first;
  head[1] = masked | Math.min(bytes.length, 126);
  if (bytes.length >= 126) head.writeUInt16BE(bytes.length, 2);
  return Buffer.concat([head, mask ? Buffer.alloc(4) : Buffer.alloc(0), bytes]);
}

export interface UpgradeText {
  readonly method?: string;
  readonly path?: string;
  readonly upgrade?: string;
  readonly connection?: string;
  readonly key?: string;
  readonly version?: string;
  readonly more?: string;
}

const KEY = randomBytes(16).toString("base64");
export const ACCEPT = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

/** The text of an upgrade request. */
export function upgradeText(text: UpgradeText = {}): string {
  const {
    method = "GET",
    path = "/s",
    upgrade = "websocket",
    connection = "Upgrade",
    key = KEY,
    version = "13",
    more = "",
  } = text;
  const handshake = `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: ${version}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: h\r\nUpgrade: ${upgrade}\r\nConnection: ${connection}\r\n${handshake}${more}\r\n`;
}

/** The close code in the bytes that a raw socket received after the 101 response; undefined without a close frame at their end. */
export function closeCodeIn(received: string): number | undefined {
  const bytes = Buffer.from(received.slice(received.indexOf("\r\n\r\n") + 4), "latin1");
  for (let at = 0; at + 1 < bytes.length; ) {
    const length = bytes.readUInt8(at + 1) & 0x7f;
    if ((bytes.readUInt8(at) & 0x0f) === CLOSE) return length < 2 ? 1005 : bytes.readUInt16BE(at + 2);
    at += 2 + (length === 126 ? 2 + bytes.readUInt16BE(at + 2) : length);
  }
  return undefined;
}

/** Waits until the received text has this part. */
export function until(socket: Socket, part: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      if (text.includes(part)) resolve(text);
    });
    socket.on("close", () => reject(new Error(`closed without ${JSON.stringify(part)}: ${text}`)));
  });
}
