import { type AddressInfo, createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { bridge, connect, serve } from "../../../src/index.js";
import { MARKER } from "../a2a/workload.js";
import { askOnce } from "./ask-once.js";
import { medianIn } from "./load.js";
import { startProxy } from "./proxy.js";
import { startUpstream } from "./upstream.js";
import { WIRES, wireOf } from "./wires/all.js";
import { AGENT, type Wire } from "./wires/wire.js";

/** What is measured must be real: Koine's client finds and understands each agent by hand, and each request reaches it. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function upstreamOf(wire: Wire) {
  const upstream = await startUpstream(wire);
  closing.push(() => upstream.close());
  return upstream;
}

/** The chunks of text in a stream of 20 events: the others carry no text. Agora has no streams. */
const CHUNKS: { readonly [wire: string]: number } = {
  "a2a-1.0-jsonrpc": 17,
  "a2a-1.0-rest": 17,
  "a2a-0.3": 17,
  "a2a-1.0-grpc": 17,
  acp: 15,
  agora: 0,
  anp: 17,
};

describe.each(WIRES.map((wire) => ({ id: wire.id, wire })))("$id", ({ wire }) => {
  test("is discovered by a client without prior knowledge", async () => {
    const upstream = await upstreamOf(wire);
    const peer = await connect(`http://127.0.0.1:${upstream.ports[1]}`, { pin: wire.pin });
    closing.push(() => peer.close());
    expect(await peer.ask("hello")).toBe("hello");
    let words = "";
    for await (const event of peer.stream("hello ")) {
      if (event.kind === "artifact")
        words += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    }
    expect([wire.id, words.length / "hello ".length]).toEqual([wire.id, CHUNKS[wire.id]]);
    expect(upstream.messages()).toBe(2);
  });

  test("its request and its stream are answered directly, through a proxy, and by a gateway", async () => {
    const upstream = await upstreamOf(wire);
    const { http, send, stream } = wire;
    const bridged = await bridge(`http://127.0.0.1:${upstream.ports[1]}`, { pin: wire.pin, bridge: { name: AGENT } });
    closing.push(() => bridged.close());
    const server = await serve(bridged);
    closing.push(() => server.close());
    const proxy = await startProxy({ front: http, behind: http, port: upstream.ports[http] });
    closing.push(() => proxy.close());
    const sends = stream === undefined ? [send] : [send, stream];
    for (const port of [upstream.ports[http], proxy.port, server.port])
      for (const sent of sends) await askOnce({ port, http, sent });
    expect(upstream.messages()).toBe(3 * sends.length);
  });
});

test("a proxy carries a request from either version of HTTP to either", async () => {
  const wire = wireOf("acp");
  const upstream = await upstreamOf(wire);
  for (const front of [1, 2] as const)
    for (const behind of [1, 2] as const) {
      const proxy = await startProxy({ front, behind, port: upstream.ports[behind] });
      closing.push(() => proxy.close());
      await askOnce({ port: proxy.port, http: front, sent: wire.send });
    }
  expect(upstream.messages()).toBe(4);
});

test("rejects an answer without the echoed text", async () => {
  const silent = createServer((socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  closing.push(() => silent.close());
  // A listening TCP server has an address object.
  const { port } = silent.address() as AddressInfo;
  const sent = { path: "/", headers: {}, body: Buffer.from(MARKER) };
  await expect(askOnce({ port, http: 1, sent })).rejects.toThrow("answered {}");
});

test("the median of a log is that of its third column", () => {
  expect(medianIn("1\t200\t30\n2\t200\t10\n3\t200\t20\n")).toBe(20);
});
