import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { gate, Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import { AgentError, CancelSource } from "../../envelope/index.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "../exchange.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { makeRequest } from "../request.js";
import { type PoolOptions, poolLink } from "./pool.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const same = (bytes: Buffer): Buffer => bytes;
const GRPC = { "content-type": "application/grpc" };

/** One message as gRPC frames it: not compressed, four bytes of length. */
function frame(text: string): Buffer {
  const message = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const unframe = (bytes: Uint8Array): string => Buffer.from(bytes).subarray(5).toString();

function clientOf(url: string, ca?: string): Client {
  const secure = ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca));
  // By name, because this client wants one under TLS.
  const client = new Client(url.slice(url.indexOf("://") + 3).replace("127.0.0.1", "localhost"), secure);
  opened.add(() => client.close());
  return client;
}

function unary(client: Client, path: string, text: string, deadlineMs = 5_000): Promise<string | ServiceError> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      path,
      same,
      same,
      Buffer.from(text),
      new Metadata(),
      { deadline: Date.now() + deadlineMs },
      (error, value) => resolve(error ?? String(value)),
    );
  });
}

describe("grpc-js as the client of our server", () => {
  const told: string[] = [];
  const cancelled = { late: gate(), left: gate() };

  const exchange: Exchange = (request) => {
    switch (request.path) {
      case "/t.S/Echo":
        return {
          status: 200,
          headers: GRPC,
          body: frame(`echo ${unframe(request.body)}`),
          trailers: () => ({ "grpc-status": "0" }),
        };
      case "/t.S/Fail":
        return { status: 200, headers: { ...GRPC, "grpc-status": "5", "grpc-message": "no such thing" }, body: undefined };
      case "/t.S/FailLate":
        return { status: 200, headers: GRPC, body: count(2), trailers: () => ({ "grpc-status": "13", "grpc-message": "broke" }) };
      case "/t.S/Count":
        return { status: 200, headers: GRPC, body: count(5), trailers: () => ({ "grpc-status": "0" }) };
      case "/t.S/Watch":
        return { status: 200, headers: GRPC, body: watch(), trailers: () => ({ "grpc-status": "0" }) };
    }
    return hang(request);
  };

  function hang(request: HttpRequest): Promise<HttpResponse> {
    request.cancel.onCancel(({ code }) => {
      told.push(code);
      cancelled.late.open();
    });
    return new Promise<HttpResponse>(() => undefined);
  }

  async function* watch() {
    try {
      yield frame("1");
      await cancelled.left.passed;
    } finally {
      told.push("returned");
    }
  }

  test.each(["in clear", "under TLS"])("unary, stream and errors %s", async (how) => {
    const secure = how === "under TLS";
    const { url } = await opened.serve(exchange, {}, secure ? { tls: made.pair } : {});
    const client = clientOf(url, secure ? made.authority.ca : undefined);
    expect(await unary(client, "/t.S/Echo", "hello")).toBe("echo hello");
    expect(await unary(client, "/t.S/Echo", "x".repeat(1_000_000))).toHaveLength(1_000_005);
    const many = await Promise.all(Array.from({ length: 300 }, (_, index) => unary(client, "/t.S/Echo", String(index))));
    expect(many).toEqual(Array.from({ length: 300 }, (_, index) => `echo ${index}`));
    expect(await unary(client, "/t.S/Fail", "")).toMatchObject({ code: status.NOT_FOUND, details: "no such thing" });
    expect(await streamed(client, "/t.S/Count")).toEqual([["0", "1", "2", "3", "4"], status.OK]);
    expect(await streamed(client, "/t.S/FailLate")).toEqual([["0", "1"], status.INTERNAL]);
  });

  test("a deadline and a cancel reach the exchange", async () => {
    const { url } = await opened.serve(exchange);
    const client = clientOf(url);
    expect(await unary(client, "/t.S/Hang", "", 100)).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await cancelled.late.passed;
    const call = client.makeServerStreamRequest("/t.S/Watch", same, same, Buffer.from(""));
    call.on("error", () => undefined);
    await new Promise((resolve) => call.once("data", resolve));
    call.cancel();
    await new Promise((resolve) => call.once("status", resolve));
    cancelled.left.open();
    while (told.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["cancelled", "returned"]);
  });

  function streamed(client: Client, path: string): Promise<readonly [string[], status]> {
    return new Promise((resolve) => {
      const call = client.makeServerStreamRequest(path, same, same, Buffer.from(""));
      const got: string[] = [];
      call.on("data", (bytes: Buffer) => got.push(String(bytes)));
      call.on("error", () => undefined);
      call.on("status", ({ code }) => resolve([got, code]));
    });
  }
});

describe("grpc-js as the server of our link", () => {
  const left = gate();

  async function serveGrpc(secure: boolean): Promise<string> {
    const server = new Server();
    const method = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
    const definition = (name: string, responseStream: boolean) => ({
      path: `/t.S/${name}`,
      requestStream: false,
      responseStream,
      ...method,
    });
    server.addService(
      {
        echo: definition("Echo", false),
        fail: definition("Fail", false),
        count: definition("Count", true),
        watch: definition("Watch", true),
      },
      {
        echo: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => done(null, call.request),
        fail: (_: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
          done({ code: status.NOT_FOUND, details: "none" }),
        count: (call: ServerWritableStream<Buffer, Buffer>) => {
          for (let index = 0; index < 5; index++) call.write(Buffer.from(String(index)));
          call.end();
        },
        watch: (call: ServerWritableStream<Buffer, Buffer>) => {
          call.on("cancelled", () => left.open());
          call.write(Buffer.from("1"));
        },
      },
    );
    const pair = { cert_chain: Buffer.from(made.pair.cert), private_key: Buffer.from(made.pair.key) };
    const how = secure ? ServerCredentials.createSsl(null, [pair]) : ServerCredentials.createInsecure();
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", how, (error, bound) => (error === null ? resolve(bound) : reject(error))),
    );
    opened.add(() => server.forceShutdown());
    return `${secure ? "https" : "http"}://127.0.0.1:${port}`;
  }

  function link(options: PoolOptions = {}) {
    const made = poolLink({ limits: { ...DEFAULT_LIMITS, drainMs: 50 }, ...options });
    opened.add(() => made.close());
    return made;
  }

  const call = (url: string, text: string, cancel?: CancelSource) =>
    makeRequest({ method: "POST", url, headers: { ...GRPC, te: "trailers" }, body: frame(text), cancel });

  test.each(["in clear", "under TLS"])("unary, stream and errors %s", async (how) => {
    const url = await serveGrpc(how === "under TLS");
    const { exchange } = link({ tls: { ca: made.authority.ca } });
    const echoed = await exchange(call(`${url}/t.S/Echo`, "hello"));
    expect([echoed.status, echoed.headers["content-type"]]).toEqual([200, "application/grpc+proto"]);
    expect(unframe(await whole(echoed))).toBe("hello");
    expect(echoed.trailers?.()).toMatchObject({ "grpc-status": "0" });
    const many = Array.from({ length: 300 }, async (_, index) =>
      unframe(await whole(await exchange(call(`${url}/t.S/Echo`, String(index))))),
    );
    expect(await Promise.all(many)).toEqual(Array.from({ length: 300 }, (_, index) => String(index)));
    const counted = await exchange(call(`${url}/t.S/Count`, ""));
    expect(await whole(counted)).toEqual(Buffer.concat(["0", "1", "2", "3", "4"].map(frame)));
    const failed = await exchange(call(`${url}/t.S/Fail`, ""));
    expect((await whole(failed)).length).toBe(0);
    expect({ ...failed.headers, ...failed.trailers?.() }).toMatchObject({ "grpc-status": "5", "grpc-message": "none" });
  });

  test("a cancel reaches the server, and the reader gets its reason", async () => {
    const url = await serveGrpc(false);
    const cancel = new CancelSource();
    const response = await link().exchange(call(`${url}/t.S/Watch`, "", cancel));
    if (!isStream(response.body)) throw new Error("a stream was expected");
    const chunks = response.body[Symbol.asyncIterator]();
    await chunks.next();
    const waiting = Promise.resolve(chunks.next()).catch((thrown: unknown) => thrown);
    const reason = new AgentError("deadline", "late");
    cancel.cancel(reason);
    expect(await waiting).toBe(reason);
    await left.passed;
  });
});

async function whole({ body }: HttpResponse): Promise<Buffer> {
  if (!isStream(body)) throw new Error("a stream was expected");
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function* count(to: number): AsyncGenerator<Buffer> {
  for (let index = 0; index < to; index++) yield frame(String(index));
}
