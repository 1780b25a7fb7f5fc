import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentError, type AgentEvent, type Card, type Cursor, type Handler, type Operation } from "../../../envelope/index.js";
import { type HttpResponse, isStream } from "../../../transport/exchange.js";
import { makeRequest } from "../../../transport/request.js";
import { createHost, type HostParts } from "../../host.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, FrameReader } from "../grpc/framing.js";
import { SCHEMA_1_0 } from "../grpc/schema-1.0.js";
import { readStatus } from "../grpc/status.js";
import { serve } from "../server.js";

const card: Card = {
  name: "a",
  description: "d",
  version: "1",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: true, push: false, extended: false, idempotentSend: true, resume: true, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const task = { id: "t", contextId: "c", status: { state: "working", at: 0 }, artifacts: [], history: [] } as const;
const working: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 0 } };

const GET = "/lf.a2a.v1.A2AService/GetTask";
const LIST = "/lf.a2a.v1.A2AService/ListTasks";
const SUBSCRIBE = "/lf.a2a.v1.A2AService/SubscribeToTask";
const good = encodeFrame(SCHEMA_1_0.GetTaskRequest, { id: "t" });
const answers: Handler = async () => ({ kind: "task", task });

interface Ask {
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  readonly handler?: Handler;
  readonly host?: Partial<HostParts>;
}

async function ask({ path = GET, headers = {}, body = good, handler = answers, host = {} }: Ask): Promise<HttpResponse> {
  const ids = { now: () => 1_000, newId: () => "id" };
  const { exchange } = serve(createHost({ handler, cards: [card], ids, ...host }));
  const all = { "content-type": "application/grpc", ...headers };
  return exchange(makeRequest({ method: "POST", url: `http://h${path}`, headers: all, body }));
}

interface GrpcOutcome {
  readonly messages: readonly unknown[];
  readonly status: string | undefined;
  readonly message: string | undefined;
}

/** A complete response. */
async function notified(response: HttpResponse): Promise<GrpcOutcome> {
  const type = SCHEMA_1_0.StreamResponse;
  const messages: unknown[] = [];
  const reader = new FrameReader(1_000_000);
  const take = (message: Uint8Array): void =>
    void messages.push(decodeMessage(type, message, { jsonDepth: 64, jsonValues: 1_000 }));
  if (isStream(response.body))
    for await (const chunk of response.body) reader.push(chunk as Uint8Array, take); // it writes bytes
  else if (response.body instanceof Uint8Array) reader.push(response.body, () => messages.push("one"));
  const status = readStatus({ ...response.headers, ...response.trailers?.() });
  return { messages, status: status?.status, message: status?.message };
}

describe("a unary call", () => {
  test("is answered with one message and a status in the trailers", async () => {
    const response = await ask({});
    expect([response.status, response.headers["content-type"]]).toEqual([200, "application/grpc+proto"]);
    expect(response.headers["grpc-status"]).toBeUndefined();
    expect(await notified(response)).toEqual({ messages: ["one"], status: "OK", message: "" });
  });

  test("that fails has only its status, in the headers", async () => {
    const response = await ask({ handler: () => Promise.reject(new AgentError("task_not_found", "no ✓ such % task")) });
    expect(response).toMatchObject({ status: 200, body: undefined, headers: { "grpc-status": "5" } });
    expect(response.headers["grpc-message"]).toBe("no %E2%9C%93 such %25 task");
    expect(response.trailers).toBeUndefined();
    expect(await notified(response)).toEqual({ messages: [], status: "NOT_FOUND", message: "no ✓ such % task" });
  });

  test("includes the retry delay and the required credentials", async () => {
    const head = { "www-authenticate": "Bearer" };
    const admission = () => Promise.reject(new AgentError("unauthenticated", "who is it?", { head }));
    expect((await ask({ host: { admission } })).headers).toMatchObject({ "grpc-status": "16", "www-authenticate": "Bearer" });
    const busy = await ask({ handler: () => Promise.reject(new AgentError("overloaded", "later", { retryAfterMs: 1_500 })) });
    expect(busy.headers["grpc-status"]).toBe("8");
    expect(readStatus(busy.headers)?.details).toContainEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: { seconds: 1, nanos: 500_000_000 },
    });
  });

  test("has the status of the configured table", async () => {
    const handler: Handler = () => Promise.reject(new AgentError("push_unsupported", "no"));
    expect((await notified(await ask({ handler }))).status).toBe("FAILED_PRECONDITION");
    const host = { settings: { a2a: { errorProfile: "1.0.0" } } };
    expect((await notified(await ask({ handler, host }))).status).toBe("UNIMPLEMENTED");
  });

  test("carries the key of a lost send in its metadata", async () => {
    const received: Operation[] = [];
    const handler: Handler = async (operation) => {
      received.push(operation);
      return { kind: "tasks", tasks: [], nextPageToken: "", pageSize: 1, totalSize: 0 };
    };
    await ask({ path: LIST, headers: { "idempotency-key": "k" }, body: encodeFrame(SCHEMA_1_0.ListTasksRequest, {}), handler });
    expect(received).toMatchObject([{ kind: "task.list", idempotencyKey: "k" }]);
  });
});

describe("a deadline", () => {
  const deaf: Handler = () => new Promise(() => undefined);

  test("is kept even if the handler ignores cancellation, and the handler is cancelled", async () => {
    const deadlines: unknown[] = [];
    const handler: Handler = (operation, call) => {
      deadlines.push(call.deadline);
      return deaf(operation, call);
    };
    expect((await notified(await ask({ headers: { "grpc-timeout": "20m" }, handler }))).status).toBe("DEADLINE_EXCEEDED");
    expect(deadlines).toEqual([1_020]);
  });

  test("ends a running stream, and closes its source", async () => {
    let released = false;
    const handler: Handler = () => ({
      [Symbol.asyncIterator]: () => {
        const steps = [Promise.resolve({ done: false as const, value: { kind: "task", task } as AgentEvent })];
        return {
          next: () => steps.shift() ?? new Promise(() => undefined),
          return: async () => {
            released = true;
            return { done: true, value: undefined };
          },
        };
      },
    });
    const response = await ask({ path: SUBSCRIBE, headers: { "grpc-timeout": "20m" }, handler });
    expect(await notified(response)).toMatchObject({ messages: [{ task: { id: "t" } }], status: "DEADLINE_EXCEEDED" });
    expect(released).toBe(true);
  });

  test("that is invalid is rejected", async () => {
    for (const timeout of ["", "5", "m", "123456789S", "-1S", "1.5S", "1d"])
      expect([timeout, (await notified(await ask({ headers: { "grpc-timeout": timeout } }))).status]).toEqual([
        timeout,
        "INVALID_ARGUMENT",
      ]);
  });
});

describe("a stream", () => {
  async function* breaking(): AsyncGenerator<AgentEvent, void, void> {
    yield { kind: "task", task, cursor: "1.x" as Cursor };
    yield working;
    throw new AgentError("unavailable", "gone");
  }

  test("that fails has its status after the events", async () => {
    const { messages, status, message } = await notified(await ask({ path: SUBSCRIBE, handler: () => breaking() }));
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages)).not.toContain("1.x");
    expect([status, message]).toEqual(["UNAVAILABLE", "gone"]);
  });

  test("has cursors for callers that requested the extension", async () => {
    const headers = { "a2a-extensions": "urn:koine:resume:1" };
    const response = await ask({ path: SUBSCRIBE, headers, handler: () => breaking() });
    expect(response.headers["a2a-extensions"]).toBe("urn:koine:resume:1");
    expect((await notified(response)).messages).toMatchObject([
      { task: { id: "t", metadata: { "urn:koine:resume:1": { cursor: "1.x" } } } },
      { statusUpdate: { taskId: "t" } },
    ]);
  });

  test("that fails before its first event is a failed call", async () => {
    const handler: Handler = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new AgentError("unsupported", "no")) }),
    });
    const response = await ask({ path: SUBSCRIBE, handler });
    expect([response.body, response.headers["grpc-status"]]).toEqual([undefined, "9"]);
  });
});

describe("invalid calls", () => {
  const frame = (flag: number, length: number, bytes: readonly number[]): Uint8Array =>
    new Uint8Array([flag, length >>> 24, length >>> 16, length >>> 8, length, ...bytes]);

  test.each<[string, Uint8Array, string]>([
    ["no message", new Uint8Array(), "INVALID_ARGUMENT"],
    ["half a prefix", new Uint8Array([0, 0]), "INVALID_ARGUMENT"],
    ["half a message", frame(0, 9, [0x12, 1]), "INVALID_ARGUMENT"],
    ["a giant length", frame(0, 0xffffffff, [1]), "INVALID_ARGUMENT"],
    ["two messages", new Uint8Array([...good, ...good]), "INVALID_ARGUMENT"],
    ["a compressed message", frame(1, 3, [0x12, 1, 0x74]), "UNIMPLEMENTED"],
    ["something else than protobuf", frame(0, 3, [0x7b, 0x7d, 0x0a]), "INVALID_ARGUMENT"],
    ["an empty message where an id is needed", frame(0, 0, []), "INVALID_ARGUMENT"],
  ])("%s", async (_what, body, status) => {
    expect((await notified(await ask({ body }))).status).toBe(status);
  });

  test("lists the supported encodings", async () => {
    expect((await ask({ body: frame(1, 0, []) })).headers["grpc-accept-encoding"]).toBe("identity");
  });

  test("a method of the other version, and another version than the package's", async () => {
    expect((await notified(await ask({ path: "/lf.a2a.v1.A2AService/TaskSubscription" }))).status).toBe("UNIMPLEMENTED");
    expect((await notified(await ask({ path: "/a2a.v1.A2AService/ListTasks" }))).status).toBe("UNIMPLEMENTED");
    expect((await notified(await ask({ headers: { "a2a-version": "0.3" } }))).status).toBe("FAILED_PRECONDITION");
  });

  test("other payloads, and gRPC-Web", async () => {
    for (const type of ["application/grpc+json", "application/grpc-web", "application/grpc-web+proto"])
      expect([type, (await ask({ headers: { "content-type": type } })).status]).toEqual([type, 415]);
    for (const type of ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"])
      expect([type, (await ask({ headers: { "content-type": type } })).status]).toEqual([type, 200]);
  });

  test("random bytes always get a status", async () => {
    const paths = ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "GetExtendedAgentCard"];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.uint8Array({ maxLength: 60 }), fc.boolean(), async (name, noise, framed) => {
        const body = framed ? frame(0, noise.length, [...noise]) : noise;
        const { status } = await notified(await ask({ path: `/lf.a2a.v1.A2AService/${name}`, body }));
        expect(status).toMatch(/^[A-Z_]+$/);
      }),
      { numRuns: 300 },
    );
  });
});

test("a card lists gRPC only with HTTP/2; other agents than the first by their tenant", () => {
  const offered = (http2: boolean, agent: string, url: string) =>
    serve(createHost({ handler: answers, cards: [card, { ...card, name: "b" }], ids: { now: () => 0, newId: () => "" }, http2 }))
      .interfaces(agent, url)
      .filter(({ binding }) => binding === "GRPC")
      .map(({ version, url: address, tenant = "" }) => `${version} ${address} ${tenant}`.trim());
  expect(offered(true, "a", "http://h:4000")).toEqual(["1.0 h:4000", "0.3 h:4000"]);
  expect(offered(true, "a", "https://h")).toEqual(["1.0 h:443", "0.3 h:443"]);
  expect(offered(true, "a", "https://[::1]:8443")).toEqual(["1.0 [::1]:8443", "0.3 [::1]:8443"]);
  expect(offered(false, "a", "http://h:4000")).toEqual([]);
  expect(offered(true, "b", "http://h:4000")).toEqual(["1.0 h:4000 b"]);
  expect(offered(true, "a", "https://h/below")).toEqual([]);
});
