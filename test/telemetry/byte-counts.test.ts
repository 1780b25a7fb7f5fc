import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, serve } from "../../src/index.js";
import { retry, systemClock } from "../../src/public/policies.js";
import { createMetrics, createTelemetry, type Metrics } from "../../src/public/telemetry.js";
import { openProtocols } from "../helpers/open-protocols.js";

/** Byte metrics against the bytes that a proxy between the two sides saw. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Forwards to `seen.target`, counts the bodies of both directions, and answers the next `failing` requests with 503. */
async function countingProxy() {
  const seen = { target: "", bytes: 0, requests: 0, failing: 0 };
  const counted = (from: IncomingMessage, to: NodeJS.WritableStream): void => {
    from.on("data", (chunk: Buffer) => {
      seen.bytes += chunk.length;
    });
    from.pipe(to);
  };
  const server = createServer((incoming, outgoing) => {
    seen.requests++;
    const { hostname, port } = new URL(seen.target);
    const { method, url, headers } = incoming;
    if (seen.failing > 0) {
      seen.failing--;
      incoming.on("data", (chunk: Buffer) => {
        seen.bytes += chunk.length;
      });
      incoming.on("end", () => outgoing.writeHead(503, { "content-length": 0 }).end());
      return;
    }
    const forwarded = httpRequest({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      counted(answer, outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    counted(incoming, forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function total(metrics: Metrics, name: string): number {
  const samples = metrics.families().find((family) => family.name === name)?.samples ?? [];
  return samples.reduce((sum, each) => sum + ("value" in each ? each.value : 0), 0);
}

const bytesOf = (metrics: Metrics) => ({
  all: total(metrics, "MSG_BYTES"),
  payload: total(metrics, "MSG_BYTES_PAYLOAD"),
  overhead: total(metrics, "MSG_BYTES_RETRY_OVERHEAD"),
});

async function between(pin: string, handle: Parameters<typeof agent>[0]["handle"]) {
  const [client, server] = [createMetrics(), createMetrics()];
  const echo = agent({ name: "echo", description: "repeats", handle });
  const proxy = await countingProxy();
  const served = await serve(echo, { publicUrl: proxy.url, telemetry: createTelemetry({ metrics: server }) });
  closing.push(() => served.close());
  proxy.seen.target = `http://127.0.0.1:${served.port}`;
  const layers = [
    retry({
      destination: "echo",
      clock: systemClock,
      random: () => 0,
      idempotentSend: () => true,
      newKey: () => "key",
      firstWaitMs: 1,
    }),
  ];
  const remote = await connect(proxy.url, {
    pin,
    discoveryCache: new DiscoveryCache(),
    telemetry: createTelemetry({ metrics: client }),
    layers,
  });
  closing.push(() => remote.close());
  Object.assign(proxy.seen, { bytes: 0, requests: 0 });
  return { client, server, remote, seen: proxy.seen };
}

const INTERFACES = [...openProtocols.map(({ id }) => id), "a2a@1.0/HTTP+JSON", "a2a@0.3/JSONRPC"];
/** 2 + 3 bytes in UTF-8, and an escape in JSON. */
const TEXT = 'é"€';
const BYTES = Buffer.byteLength(TEXT);

describe("the bytes of a call", () => {
  test.each(INTERFACES)("by %s are those on the wire: the content, and all around it", async (pin) => {
    const { client, server, remote, seen } = await between(pin, ({ text }) => text + text);
    expect(await remote.ask(TEXT)).toBe(TEXT + TEXT);
    const expected = { all: seen.bytes, payload: 3 * BYTES, overhead: seen.bytes - 3 * BYTES };
    expect(seen.bytes).toBeGreaterThan(3 * BYTES);
    expect(bytesOf(client)).toEqual(expected);
    expect(bytesOf(server)).toEqual(expected);
  });

  test.each(INTERFACES)("by %s include what is sent again, as overhead", async (pin) => {
    const { client, remote, seen } = await between(pin, ({ text }) => text);
    seen.failing = 1;
    expect(await remote.ask(TEXT)).toBe(TEXT);
    expect(seen.requests).toBe(2);
    expect(bytesOf(client)).toEqual({ all: seen.bytes, payload: 2 * BYTES, overhead: seen.bytes - 2 * BYTES });
  });

  test("of a stream are counted message by message", async () => {
    let next = (): void => undefined;
    const { client, server, remote, seen } = await between("a2a@1.0/JSONRPC", async function* () {
      for (const word of ["one", "two", "three"]) {
        yield word;
        await new Promise<void>((resolve) => {
          next = resolve;
        });
      }
    });
    let read = 0;
    const overheads: number[] = [];
    for await (const { kind, ...event } of remote.stream(TEXT)) {
      if (kind !== "artifact") continue;
      const [part] = (event as { readonly artifact: { readonly parts: readonly { readonly text?: string }[] } }).artifact.parts;
      read += part?.text?.length ?? 0;
      for (const metrics of [client, server]) {
        const { all, payload, overhead } = bytesOf(metrics);
        expect(payload).toBe(BYTES + read);
        overheads.push(overhead);
        expect(payload + overhead).toBeLessThanOrEqual(all);
      }
      next();
    }
    expect(read).toBe("onetwothree".length);
    // What is around a message is counted at the latest when the next one arrives; several may arrive at once at the start.
    expect(overheads.slice(2).map((overhead) => overhead > 0)).toEqual(Array(4).fill(true));
    await expect
      .poll(() => bytesOf(client))
      .toEqual({ all: seen.bytes, payload: BYTES + read, overhead: seen.bytes - BYTES - read });
    await expect.poll(() => bytesOf(server)).toEqual(bytesOf(client));
  });
});
