import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Http1ResponseWriter } from "./http1-response-writer.js";

const server = createServer((_request, response) => {
  response.sendDate = false;
  server.emit("response", response);
});
let port = 0;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port; // a listening TCP server has an address object
});
afterAll(() => server.closeAllConnections());

interface Opened {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly writer: Http1ResponseWriter;
  readonly drained: () => number;
  /** What the socket was given to write, one by one. */
  readonly writes: readonly unknown[];
  /** Everything that the peer gets, once it has this text at the end. */
  received(end: string): Promise<string>;
}

const open = async (version = "1.1"): Promise<Opened> => {
  const peer = connect(port, "127.0.0.1");
  let bytes = Buffer.alloc(0);
  peer.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  peer.write(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`);
  const [response] = (await once(server, "response")) as [ServerResponse];
  const { socket } = response;
  if (socket === null) throw new Error("no request came");
  const writes: unknown[] = [];
  const write = socket.write.bind(socket);
  socket.write = ((...args: Parameters<typeof write>) => {
    writes.push(args[0]);
    return write(...args);
  }) as typeof socket.write;
  const writer = new Http1ResponseWriter(response, false);
  let drained = 0;
  writer.open({ status: 200, headers: { "x-a": "b" }, body: "" }, { drained: () => drained++, broken: () => undefined });
  const received = async (end: string): Promise<string> => {
    while (!bytes.toString("utf8").endsWith(end)) await once(peer, "data");
    return bytes.toString("utf8");
  };
  return { response, socket, writer, drained: () => drained, writes, received };
};

const turn = () => new Promise((resolve) => setImmediate(resolve));
const HEAD = "HTTP/1.1 200 OK\r\nx-a: b\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n";

describe("Http1ResponseWriter", () => {
  test("what is written in one turn of the event loop leaves at its end, in one write", async () => {
    const { socket, writer, writes, received } = await open();
    await turn();
    const before = socket.bytesWritten;
    writer.write("one ");
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(socket.bytesWritten).toBe(before);
    writer.write("two ");
    await turn();
    expect(writes).toEqual([HEAD, "8\r\none two \r\n"]);
    expect(socket.writableCorked).toBe(0);
    writer.write("three");
    writer.end(undefined, 1_000);
    expect(await received("0\r\n\r\n")).toBe(`${HEAD}8\r\none two \r\n5\r\nthree\r\n0\r\n\r\n`);
  });

  test("the head and what is there with it leave at once, before other requests of the turn are handled", async () => {
    const { socket, writer, received } = await open();
    writer.write("first");
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(socket.bytesWritten).toBe(`${HEAD}5\r\nfirst\r\n`.length);
    writer.end(undefined, 1_000);
    await received("0\r\n\r\n");
  });

  test("an answer that is there at once is one write: head, chunk and last chunk", async () => {
    const { socket, writer, writes, received } = await open();
    writer.write("one ");
    writer.write("two");
    writer.end(undefined, 1_000);
    const answer = `${HEAD}7\r\none two\r\n0\r\n\r\n`;
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(writes).toEqual([]);
    await turn();
    expect(writes).toEqual([answer]);
    expect(await received("0\r\n\r\n")).toBe(answer);
    expect(socket.writableCorked).toBe(0);
  });

  test("an answer whose peer left before the end of the turn is not written", async () => {
    const { response, writer, writes } = await open();
    writer.write("one");
    writer.end(undefined, 1_000);
    response.destroy();
    await turn();
    expect(writes).toEqual([]);
  });

  test.each([
    ["1.1", `${HEAD}0\r\n\r\n`],
    ["1.0", "HTTP/1.1 200 OK\r\nx-a: b\r\nConnection: close\r\n\r\n"],
  ])("an answer of HTTP/%s without a chunk is its head and its end", async (version, answer) => {
    const { writer, writes, received } = await open(version);
    writer.end(undefined, 1_000);
    await turn();
    expect(writes).toEqual([answer]);
    expect(await received("\r\n\r\n")).toBe(answer);
  });

  test("chunks are framed by their length in bytes (RFC 9112 §7.1): text, other text, bytes, nothing, trailers", async () => {
    const { writer, received } = await open();
    writer.write("a");
    writer.write("é→");
    writer.write("");
    writer.write(Buffer.from("bytes of a chunk"));
    writer.write(new Uint8Array(0));
    await turn();
    writer.write(Buffer.from([0x62]));
    writer.write("c");
    writer.end({ "x-sum": "7" }, 1_000);
    expect(await received("\r\n\r\n")).toBe(
      `${HEAD}6\r\naé→\r\n10\r\nbytes of a chunk\r\n1\r\nb\r\n1\r\nc\r\n0\r\nx-sum: 7\r\n\r\n`,
    );
  });

  test("to a peer of HTTP/1.0 the chunks are not framed, and the connection closes", async () => {
    const { writer, received } = await open("1.0");
    writer.write("één ");
    writer.write(Buffer.from("two"));
    writer.end(undefined, 1_000);
    expect(await received("één two")).toBe("HTTP/1.1 200 OK\r\nx-a: b\r\nConnection: close\r\n\r\néén two");
  });

  test("is full at the high water mark, and has room again once it was sent", async () => {
    const { response, writer, drained } = await open();
    await turn();
    const large = "x".repeat(response.writableHighWaterMark);
    expect(writer.write("small")).toBe(true);
    expect(writer.write(large)).toBe(false);
    expect(writer.full).toBe(true);
    expect(drained()).toBe(0);
    while (drained() === 0) await turn();
    expect(writer.full).toBe(false);
    expect(writer.write("small")).toBe(true);
    await turn();
    expect(drained()).toBe(1);
    writer.end(undefined, 1_000);
  });
});
