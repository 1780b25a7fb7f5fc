import * as sdk from "@a2a-js/sdk";
import * as client from "@a2a-js/sdk/client";
import * as client03 from "a2a-js-sdk-03/client";
import { describe, expect, test } from "vitest";
import type { AgentEvent, Card, Envelope, Task } from "../../../envelope/index.js";
import { AgentError } from "../../../envelope/index.js";
import { hybridCard } from "../card/card.js";
import { restErrorOf, rpcErrorOf } from "../errors.js";
import { v03 } from "./codec-0.3.js";
import { v03Proto } from "./codec-0.3-proto.js";
import { v1 } from "./codec-1.0.js";

/** Our output, read by the parsers of the official SDKs. */
const nothing = (): void => undefined;
const wire = (value: unknown): object => JSON.parse(JSON.stringify(value));
const message: Envelope = {
  id: "m-1",
  ts: 1,
  src: "a",
  dst: "b",
  intent: "ask",
  role: "agent",
  content: [
    { kind: "text", text: "hi", mediaType: "text/markdown" },
    { kind: "raw", bytes: new Uint8Array([1, 2, 255]), name: "x.bin", mediaType: "application/octet-stream" },
    { kind: "url", url: "https://files.example/x", name: "x" },
    { kind: "data", data: { a: [1, null] }, metadata: { p: true } },
  ],
  context: { sessionId: "c", taskId: "t" },
  meta: {},
  metadata: { k: "v" },
  extensions: ["https://ext.example/1"],
  references: ["t-0"],
};
const task: Task = {
  id: "t",
  contextId: "c",
  status: { state: "input-required", at: 1761647400000, message },
  artifacts: [{ id: "a", name: "n", description: "d", parts: message.content, metadata: { q: 1 }, extensions: ["e"] }],
  history: [message],
  metadata: { cost: 1.5 },
};
const events: readonly AgentEvent[] = [
  { kind: "task", task },
  { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 0 }, metadata: { z: 1 } },
  {
    kind: "artifact",
    taskId: "t",
    contextId: "c",
    artifact: task.artifacts[0] ?? { id: "", parts: [] },
    append: true,
    last: true,
  },
  { kind: "message", message },
];
const card: Card = {
  name: "a",
  description: "d",
  version: "1.0.0",
  skills: [{ id: "s", name: "n", description: "d", tags: ["t"] }],
  inputModes: ["text/plain"],
  outputModes: ["text/plain"],
  capabilities: {
    streaming: true,
    push: true,
    extended: true,
    idempotentSend: true,
    resume: true,
    extensions: [{ uri: "u:1", required: true, params: { a: 1 } }],
  },
  security: {
    schemes: {
      key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } },
      web: { httpAuthSecurityScheme: { scheme: "bearer" } },
      flow: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: "https://t.example", scopes: { s: "d" } } } } },
    },
    anyOf: [{ key: ["s"] }],
  },
  interfaces: [
    { protocol: "a2a", version: "1.0", binding: "JSONRPC", url: "https://a.example/a2a" },
    { protocol: "a2a", version: "1.0", binding: "HTTP+JSON", url: "https://a.example/a2a" },
    { protocol: "a2a", version: "0.3", binding: "JSONRPC", url: "https://a.example/old" },
    { protocol: "a2a", version: "0.3", binding: "HTTP+JSON", url: "https://a.example/old" },
  ],
};
const answering =
  (body: unknown, requests: string[], status = 200) =>
  (url: string | URL | Request): Promise<Response> => {
    requests.push(String(url));
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } }));
  };

describe("@a2a-js/sdk 1.3.0", () => {
  test("reads our stream items without losses", () => {
    const written = events.map((event) => wire(v1.encodeStreamItem(event, nothing)));
    expect(written.map((item) => sdk.StreamResponse.toJSON(sdk.StreamResponse.fromJSON(item)))).toEqual(written);
  });

  test("reads our requests without losses", () => {
    const push = {
      taskId: "",
      id: "p",
      url: "https://hook.example",
      token: "t",
      authentication: { scheme: "Bearer", credentials: "s" },
    };
    const encoded = v1.encodeRequest(
      {
        kind: "send",
        envelope: { ...message, role: "user" },
        delivery: "accepted",
        task: "auto",
        historyLength: 0,
        outputModes: ["a/b"],
        push,
      },
      "acme",
      nothing,
    );
    const params = wire(encoded?.params);
    expect(sdk.SendMessageRequest.toJSON(sdk.SendMessageRequest.fromJSON(params))).toEqual(params);
  });

  test("reads our pages", () => {
    const page = wire(
      v1.encodeResult(
        { kind: "task.list", artifacts: true },
        { kind: "tasks", tasks: [task], nextPageToken: "n", pageSize: 1, totalSize: 2 },
        nothing,
      ),
    );
    expect(sdk.ListTasksResponse.toJSON(sdk.ListTasksResponse.fromJSON(page))).toEqual(page);
  });

  test("reads our card", () => {
    const written = wire(v1.encodeCard(card));
    expect(sdk.AgentCard.toJSON(sdk.AgentCard.fromJSON(written))).toEqual(written);
  });

  test.each([false, true])("finds the 1.0 address in the card for both versions, compatibility %s", async (enabled) => {
    const fetchImpl = answering(hybridCard(card), []);
    const resolver = new client.DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled } });
    const found = await resolver.resolve("https://a.example");
    const requests: string[] = [];
    const answer = {
      jsonrpc: "2.0",
      id: 1,
      result: v1.encodeResult({ kind: "task.get", taskId: "t" }, { kind: "task", task }, nothing),
    };
    const transports = [new client.JsonRpcTransportFactory({ fetchImpl: answering(answer, requests) })];
    const peer = await new client.ClientFactory({ transports, cardResolver: resolver }).createFromAgentCard(found);
    const got = await peer.getTask({ id: "t", tenant: "", historyLength: undefined });
    expect(got.history).toHaveLength(1);
    expect(requests).toEqual(["https://a.example/a2a"]);
  });

  test.each([
    ["task_not_found", "TaskNotFoundError"],
    ["not_cancelable", "TaskNotCancelableError"],
    ["task_closed", "UnsupportedOperationError"],
    ["unsupported_version", "VersionNotSupportedError"],
  ] as const)("decodes our %s as its %s, on both bindings", async (code, want) => {
    const error = new AgentError(code, "words");
    const rest = restErrorOf(error, "1.0", "1.0.0");
    const interfaces = [
      new client.JsonRpcTransportFactory({
        fetchImpl: answering({ jsonrpc: "2.0", id: 1, error: rpcErrorOf(error, "1.0") }, []),
      }),
      new client.RestTransportFactory({ fetchImpl: answering(rest.body, [], rest.status) }),
    ];
    const thrown: unknown[] = [];
    for (const transport of interfaces) {
      const peer = await new client.ClientFactory({ transports: [transport] }).createFromAgentCard(
        sdk.AgentCard.fromJSON(wire(v1.encodeCard(card))),
      );
      thrown.push(await peer.getTask({ id: "t", tenant: "", historyLength: undefined }).catch((reason: Error) => reason.name));
    }
    expect(thrown).toEqual([want, want]);
  });
});

describe("@a2a-js/sdk 0.3.14", () => {
  test("finds the 0.3 address in the card for both versions", async () => {
    const found = await new client03.DefaultAgentCardResolver({ fetchImpl: answering(hybridCard(card), []) }).resolve(
      "https://a.example",
    );
    const requests: string[] = [];
    const answer = {
      jsonrpc: "2.0",
      id: 1,
      result: v03.encodeResult({ kind: "task.get", taskId: "t" }, { kind: "task", task }, nothing),
    };
    const transports = [new client03.JsonRpcTransportFactory({ fetchImpl: answering(answer, requests) })];
    const peer = await new client03.ClientFactory({ transports }).createFromAgentCard(found);
    expect((await peer.getTask({ id: "t" })).status.state).toBe("input-required");
    expect(requests).toEqual(["https://a.example/old"]);
    expect(found.securitySchemes?.["key"]).toMatchObject({ type: "apiKey", in: "header", name: "X-Key" });
  });

  test("reads our task from REST as from JSON-RPC, except what its protobuf lacks", async () => {
    const answer = v03Proto.encodeResult({ kind: "task.get", taskId: "t" }, { kind: "task", task }, nothing);
    const transport = new client03.RestTransport({ endpoint: "https://a.example/old", fetchImpl: answering(answer, []) });
    const got = await transport.getTask({ id: "t" });
    expect(wire(got)).toEqual({
      kind: "task",
      id: "t",
      contextId: "c",
      status: {
        state: "input-required",
        timestamp: "2025-10-28T10:30:00.000Z",
        message: expect.objectContaining({ kind: "message", messageId: "m-1", role: "agent" }),
      },
      artifacts: [
        {
          artifactId: "a",
          name: "n",
          description: "d",
          metadata: { q: 1 },
          parts: [
            { kind: "text", text: "hi" },
            { kind: "file", file: { bytes: "AQL/", mimeType: "application/octet-stream" } },
            { kind: "file", file: { uri: "https://files.example/x", mimeType: "" } },
            { kind: "data", data: { a: [1, null] } },
          ],
        },
      ],
      history: [expect.objectContaining({ contextId: "c", taskId: "t", extensions: ["https://ext.example/1"] })],
      metadata: { cost: 1.5 },
    });
  });

  test("decodes our errors as its own, on both bindings", async () => {
    const error = new AgentError("not_cancelable", "words");
    const rest = restErrorOf(error, "0.3", "1.0.1");
    const interfaces = [
      new client03.JsonRpcTransport({
        endpoint: "https://a.example",
        fetchImpl: answering({ jsonrpc: "2.0", id: 1, error: rpcErrorOf(error, "0.3") }, []),
      }),
      new client03.RestTransport({ endpoint: "https://a.example", fetchImpl: answering(rest.body, [], rest.status) }),
    ];
    const names: unknown[] = [];
    for (const transport of interfaces)
      names.push(await transport.cancelTask({ id: "t" }).catch((reason: Error) => reason.constructor.name));
    expect(names).toEqual(["TaskNotCancelableJSONRPCError", "TaskNotCancelableError"]);
  });
});
