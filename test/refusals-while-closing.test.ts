import { connect as connectHttp2 } from "node:http2";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, test } from "vitest";
import { agent, bridge, connect, DiscoveryCache, type Server, serve } from "../src/index.js";

/** A server that drains refuses new requests in the form of the protocol that they address, and says when to try again. */

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that waits for the end of one call. */
async function draining(): Promise<Server> {
  let goOn: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const writer = agent({
    name: "writer",
    description: "writes two pieces",
    async *handle() {
      yield "first";
      await told;
      return "second";
    },
  });
  const server = await serve(writer);
  const peer = await connect(server.url, { pin: "a2a@1.0/JSONRPC", discoveryCache: new DiscoveryCache() });
  const events = peer.stream("write")[Symbol.asyncIterator]();
  await events.next();
  const closed = server.close();
  closing.push(async () => {
    goOn();
    while (!(await events.next()).done);
    await peer.close();
    await closed;
  });
  return server;
}

interface Refused {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

async function post({ url }: Server, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Refused> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
}

const WHY = expect.stringContaining("shutting down");

describe("a new request while the server drains", () => {
  test("JSON-RPC", async () => {
    const sent = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: {} };
    expect(await post(await draining(), "/a2a", sent, { "a2a-version": "1.0" })).toMatchObject({
      status: 503,
      retryAfter: "1",
      body: { jsonrpc: "2.0", id: null, error: { code: expect.any(Number), message: WHY } },
    });
  });

  test("HTTP+JSON", async () => {
    expect(await post(await draining(), "/a2a/message:send", {}, { "a2a-version": "1.0" })).toMatchObject({
      status: 503,
      retryAfter: "1",
      body: { error: { code: 503, status: "UNAVAILABLE", message: WHY } },
    });
  });

  test("runs of ACP", async () => {
    const server = await draining();
    const error = { status: 503, retryAfter: "1", body: { code: "server_error", message: WHY } };
    expect(await post(server, "/runs", {})).toMatchObject(error);
    const read = await fetch(`${server.url}/runs/8c0a8f0e-5c0e-4b39-9d0e-0d9b8f3f3c55`);
    expect({ status: read.status, body: await read.json() }).toMatchObject({ status: 503, body: error.body });
  });

  test("Agora", async () => {
    expect(await post(await draining(), "/agora", {})).toMatchObject({
      status: 503,
      retryAfter: "1",
      body: { status: "error", message: WHY },
    });
  });

  test("JSON-RPC of ANP", async () => {
    expect(await post(await draining(), "/anp/rpc", { jsonrpc: "2.0", id: 1, method: "anp.get_capabilities" })).toMatchObject({
      status: 503,
      retryAfter: "1",
      body: { jsonrpc: "2.0", error: { message: WHY } },
    });
  });

  test("documents and unknown paths", async () => {
    const server = await draining();
    for (const path of ["/.well-known/agent-card.json", "/agents", "/no/such/path"]) {
      const response = await fetch(server.url + path);
      expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "1"]);
    }
  });
});

describe("gRPC while the server drains", () => {
  /** One request on a new connection, sent with its first bytes: a later one meets GOAWAY. */
  async function asking(path: string) {
    const { url } = await draining();
    const session = connectHttp2(url);
    closing.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" });
    const fields: Record<string, unknown> = {};
    const pieces: Buffer[] = [];
    stream.on("response", (head) => Object.assign(fields, head));
    stream.on("trailers", (trailers) => Object.assign(fields, trailers));
    stream.on("data", (piece: Buffer) => pieces.push(piece));
    const ended = new Promise((resolve, reject) => stream.on("end", resolve).on("error", reject));
    stream.end(Buffer.alloc(5));
    await ended;
    return { code: Number(fields["grpc-status"]), why: fields["grpc-message"], body: Buffer.concat(pieces).toString("hex") };
  }

  test("a call is refused with UNAVAILABLE", async () => {
    expect(await asking("/lf.a2a.v1.A2AService/SendMessage")).toEqual({ code: status.UNAVAILABLE, why: WHY, body: "" });
  });

  test("a health check is answered: NOT_SERVING", async () => {
    // A frame of two bytes: HealthCheckResponse.status, field 1, is 2.
    expect(await asking("/grpc.health.v1.Health/Check")).toMatchObject({ code: status.OK, body: "00000000020802" });
  });
});

describe("gRPC health", () => {
  const bytes = (value: Buffer): Buffer => value;

  test("follows the readiness of the server", async () => {
    const echo = agent({ name: "echo", description: "repeats", handle: ({ text }) => text });
    let upstream = await serve(echo);
    closing.push(() => upstream.close());
    const bridged = await bridge(upstream.url, { discoveryCache: new DiscoveryCache() });
    closing.push(() => bridged.close());
    const server = await serve(bridged);
    closing.push(() => server.close());
    const client = new Client(new URL(server.url).host, credentials.createInsecure());
    closing.push(() => client.close());
    const seen: string[] = [];
    const watch = client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", bytes, bytes, Buffer.alloc(0));
    watch.on("data", (reply: Buffer) => seen.push(reply.toString("hex"))).on("error", () => undefined);
    closing.push(() => watch.cancel());
    const check = () =>
      new Promise<string>((resolve, reject) => {
        const path = "/grpc.health.v1.Health/Check";
        client.makeUnaryRequest(path, bytes, bytes, Buffer.alloc(0), (error: ServiceError | null, reply?: Buffer) =>
          error === null ? resolve(reply?.toString("hex") ?? "") : reject(error),
        );
      });
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    await expect.poll(() => seen, { timeout: 15_000 }).toEqual(["0801"]);
    expect([await ready(), await check()]).toEqual([200, "0801"]);
    await upstream.close();
    expect([await ready(), await check()]).toEqual([503, "0802"]);
    await expect.poll(() => seen, { timeout: 15_000 }).toEqual(["0801", "0802"]);
    upstream = await serve(echo, { port: upstream.port });
    await expect.poll(() => seen, { timeout: 15_000 }).toEqual(["0801", "0802", "0801"]);
  });
});
