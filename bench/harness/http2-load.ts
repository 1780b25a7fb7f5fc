import type { Socket } from "node:net";
import { type Budget, openSocket, type RequestTemplate, writeNumber } from "./http-load.js";

/**
 * One POST at a time on each connection, over HTTP/2 with prior knowledge (RFC 9113 §3.3). Frames are written and read by hand, so that the
 * load costs less than the barest server it measures.
 */

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const HEAD_BYTES = 9;
// RFC 9113 §6.
const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE] = [0, 1, 3, 4, 6, 7, 8] as const;
const [END_STREAM, END_HEADERS, ACK] = [0x1, 0x4, 0x1] as const;
const INITIAL_WINDOW_SIZE = 4;
const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;
// RFC 7541: indexes of the static table, and the first of the dynamic one.
const [METHOD_POST, SCHEME_HTTP, FIRST_DYNAMIC] = [3, 6, 62] as const;
const [INDEXED, WITH_INDEXING] = [0x80, 0x40] as const;

interface Connection {
  nextStream: number;
  /** The fields are in the peer's table since the first request. */
  isIndexed: boolean;
}

const connections = new WeakMap<Socket, Connection>();

/** A connection whose windows no answer of a bench fills. */
export async function openHttp2(port: number): Promise<Socket> {
  const socket = await openSocket(port);
  connections.set(socket, { nextStream: 1, isIndexed: false });
  const window = Buffer.alloc(6);
  window.writeUInt16BE(INITIAL_WINDOW_SIZE, 0);
  window.writeUInt32BE(MAX_WINDOW, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(MAX_WINDOW - DEFAULT_WINDOW, 0);
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, window), frame(WINDOW_UPDATE, 0, 0, more)]));
  return socket;
}

/** Sends the request again and again, each after the answer to the one before. */
export function pumpHttp2(socket: Socket, template: RequestTemplate, budget: Budget): Promise<void> {
  const connection = connections.get(socket);
  if (connection === undefined) throw new Error("not a connection of openHttp2");
  const later = writeCall(template, true);
  const marker = Buffer.from(template.marker);
  const send = (): void => {
    const { bytes, counterAt, dataAt } = connection.isIndexed ? later : writeCall(template, false);
    connection.isIndexed = true;
    writeNumber(bytes, counterAt, template.counter.length);
    bytes.writeUInt32BE(connection.nextStream, 5);
    bytes.writeUInt32BE(connection.nextStream, dataAt + 5);
    socket.write(bytes);
  };
  return new Promise((resolve, reject) => {
    let pending: Buffer | undefined;
    let sentAt = performance.now();
    let isMarked = false;
    const fail = (reason: string): void => reject(new Error(`${template.path}: ${reason}`));
    const answered = (): void => {
      if (!isMarked) {
        fail("the answer does not hold the marker");
        return;
      }
      isMarked = false;
      connection.nextStream += 2;
      sentAt = budget.record(sentAt);
      if (budget.open()) {
        send();
        return;
      }
      socket.off("error", reject);
      for (const event of ["data", "close"]) socket.removeAllListeners(event);
      resolve();
    };
    const take = (type: number, flags: number, payload: Buffer): void => {
      if (type === RST_STREAM || type === GOAWAY) fail(`frame ${type}: ${payload.toString("latin1")}`);
      else if (type === SETTINGS && (flags & ACK) === 0) socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
      else if (type === PING && (flags & ACK) === 0) socket.write(frame(PING, ACK, 0, payload));
      else if (type === DATA) isMarked ||= payload.includes(marker);
      if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) answered();
    };
    socket.on("error", reject);
    socket.on("close", () => fail("the server closed the connection"));
    socket.on("data", (chunk: Buffer) => {
      const buffer = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
      let at = 0;
      while (at + HEAD_BYTES <= buffer.length) {
        const end = at + HEAD_BYTES + buffer.readUIntBE(at, 3);
        if (end > buffer.length) break;
        take(buffer[at + 3] ?? 0, buffer[at + 4] ?? 0, buffer.subarray(at + HEAD_BYTES, end));
        at = end;
      }
      pending = at < buffer.length ? buffer.subarray(at) : undefined;
    });
    send();
  });
}

/** Both frames of a request on stream 0, which the caller replaces. */
function writeCall(template: RequestTemplate, isIndexed: boolean): { bytes: Buffer; counterAt: number; dataAt: number } {
  const fields = { ":path": template.path, ":authority": `127.0.0.1:${template.port}`, ...template.headers };
  const names = Object.entries(fields);
  const block = names.map(([name, value], index) =>
    isIndexed
      ? Buffer.from([INDEXED | (FIRST_DYNAMIC + names.length - 1 - index)])
      : Buffer.concat([Buffer.from([WITH_INDEXING]), literal(name.toLowerCase()), literal(value)]),
  );
  const head = Buffer.concat([Buffer.from([INDEXED | METHOD_POST, INDEXED | SCHEME_HTTP]), ...block]);
  const headers = frame(HEADERS, END_HEADERS, 0, head);
  const body = Buffer.from(template.body as Uint8Array); // its overloads take either, not both
  const bytes = Buffer.concat([headers, frame(DATA, END_STREAM, 0, body)]);
  const counterAt = bytes.lastIndexOf(template.counter);
  if (counterAt < 0) throw new Error("the counter does not stand in the body");
  return { bytes, counterAt, dataAt: headers.length };
}

/** A string of less than 127 bytes, without Huffman coding (RFC 7541 §5.2). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length >= 127) throw new Error(`too long for a field of the bench: ${text}`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
