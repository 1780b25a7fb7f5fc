import { connect, type Socket } from "node:net";
import { findResponse } from "./http-response.js";
import { orderOfRound } from "./rounds.js";
import { joinSlices, type Slice, startTally, type Window } from "./tally.js";

/** One request, sent again and again. */
export interface RequestTemplate {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes where it is no text. */
  readonly body: string | Uint8Array;
  /** Occurs once in the body; replaced by a new number of the same width in every request. */
  readonly counter: string;
  /** Must occur in every answer: an error with status 200 does not count. */
  readonly marker: string;
}

/** Servers that are called in turns within one slice. */
export interface Turns {
  readonly templates: readonly RequestTemplate[];
  readonly connections: number;
  readonly sliceMs: number;
}

/** How requests are sent over a connection. */
export interface Wire {
  open(port: number): Promise<Socket>;
  pump(socket: Socket, template: RequestTemplate, budget: Budget): Promise<void>;
}

/** Never the same number twice in this process, so that no server may take a message for a repeated one. */
let nextNumber = 1;

/**
 * Closed loop over plain sockets, one request at a time on each. It knows no more HTTP than needed, so that the load costs
 * less than the barest server it measures.
 */
export async function runHttpLoad(
  template: RequestTemplate,
  connections: number,
  window: Window,
  wire: Wire = HTTP1,
): Promise<Slice> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => wire.open(template.port)));
  try {
    const tally = startTally(window, () => performance.now());
    await Promise.all(sockets.map((socket) => wire.pump(socket, template, tally)));
    return tally.slice();
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** The least length of a turn: short, so that all servers of a slice meet the same disturbances. */
const TURN_MS = 10;
/** A turn counts this many answers of each connection: a server that answers all of them at once is then timed by whole waves. */
const ANSWERS_PER_CONNECTION = 2;

/** Connections that stay open from slice to slice: opening them would cost each server a share of its time. */
const kept = new Map<number, Socket[]>();
/** Goes on from slice to slice, so that no server is always the first of one. */
let turns = 0;

/** The servers of a slice in turns, there and back, until its time is over. */
export async function runHttpTurns({ templates, connections, sliceMs }: Turns, wire: Wire = HTTP1): Promise<readonly Slice[]> {
  const arms = templates.map((template) => ({ template, slices: [] as Slice[] }));
  for (const { template } of arms) await keptSockets(template.port, connections, wire);
  const until = performance.now() + sliceMs;
  do {
    for (const { template, slices } of [...orderOfRound(arms, turns), ...orderOfRound(arms, turns).toReversed()]) {
      // On a busy machine the turns of the others can take longer than a server keeps an idle connection.
      const sockets = await keptSockets(template.port, connections, wire);
      const turn = { rampMs: 0, windowMs: TURN_MS, minAnswers: ANSWERS_PER_CONNECTION * connections };
      const tally = startTally(turn, () => performance.now());
      await Promise.all(sockets.map((socket) => wire.pump(socket, template, tally)));
      slices.push(tally.slice());
    }
    turns++;
  } while (performance.now() < until);
  return arms.map(({ slices }) => joinSlices(slices));
}

async function keptSockets(port: number, connections: number, wire: Wire): Promise<readonly Socket[]> {
  const open = (kept.get(port) ?? []).filter(({ destroyed, readyState }) => !destroyed && readyState === "open");
  while (open.length < connections) open.push(await wire.open(port));
  // Between slices a server may close a connection.
  for (const socket of open) if (socket.listenerCount("error") === 0) socket.on("error", () => undefined);
  kept.set(port, open);
  return open;
}

/** Sends exactly `requests` requests; for watching memory, not time. */
export async function sendMany(template: RequestTemplate, connections: number, requests: number): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(template.port)));
  let left = requests;
  const budget = { open: () => --left >= connections, record: () => 0 };
  try {
    await Promise.all(sockets.map((socket) => pump(socket, template, budget)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Opens one socket on the bench's own address. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** The bytes of the request, and the position of the counter. */
export function writeRequest(template: RequestTemplate): { readonly bytes: Buffer; readonly counterAt: number } {
  const body = Buffer.from(template.body as Uint8Array); // its overloads take either, not both
  const headers = Object.entries(template.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${template.path} HTTP/1.1\r\nHost: 127.0.0.1:${template.port}\r\n${headers.join("")}Content-Length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.concat([Buffer.from(head), body]);
  const counterAt = bytes.lastIndexOf(template.counter);
  if (counterAt < 0) throw new Error("the counter does not stand in the body");
  return { bytes, counterAt };
}

/** How long requests are sent, and who hears of the answers. */
export interface Budget {
  open(): boolean;
  record(sentAt: number): number;
}

const HTTP1: Wire = { open: openSocket, pump };

function pump(socket: Socket, template: RequestTemplate, budget: Budget): Promise<void> {
  const { bytes, counterAt } = writeRequest(template);
  const marker = Buffer.from(template.marker);
  const send = () => {
    writeNumber(bytes, counterAt, template.counter.length);
    socket.write(bytes);
  };
  return new Promise((resolve, reject) => {
    let pending: Buffer | undefined;
    let sentAt = performance.now();
    const fail = (reason: string) => reject(new Error(`${template.path}: ${reason}`));
    if (socket.destroyed) fail("the server closed the connection");
    socket.on("error", reject);
    socket.on("close", () => fail("the server closed the connection"));
    socket.on("data", (chunk: Buffer) => {
      const buffer = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
      const span = findResponse(buffer);
      if (span === undefined) {
        pending = buffer;
        return;
      }
      pending = undefined;
      if (span.status < 200 || span.status > 299 || buffer.indexOf(marker, span.bodyStart) < 0) {
        fail(`answered ${buffer.toString("utf8", 0, 2000)}`);
        return;
      }
      sentAt = budget.record(sentAt);
      if (budget.open()) {
        send();
        return;
      }
      socket.off("error", reject);
      for (const event of ["data", "close"]) socket.removeAllListeners(event);
      resolve();
    });
    send();
  });
}

/** In place: the previous request of this socket was answered, so its bytes were sent. */
export function writeNumber(bytes: Buffer, at: number, width: number): void {
  let rest = nextNumber++;
  for (let index = at + width - 1; index >= at; index--) {
    bytes[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
