import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Server } from "../../src/index.js";
import { startKoine } from "../peers/koine.js";
import { pythonFor, runScript, type Script } from "./python.js";

interface InterfaceUnderTest {
  readonly script: Script;
  readonly args: readonly string[];
  /** How this client marks the last event. */
  readonly end: string;
  readonly parts: unknown;
  /** How the client reports each refusal: its error's class, JSON-RPC code or HTTP status. */
  readonly refusals: Refusals;
  readonly list?: unknown;
}

interface Refusals {
  readonly notFound: unknown;
  readonly notCancelable: unknown;
  readonly closed: unknown;
  readonly otherContext: unknown;
  readonly unknownStream: unknown;
}

const PARTS_1_0 = [
  { text: "conform: echo" },
  { raw: "AAH+/w==", filename: "four.bin", mediaType: "application/octet-stream" },
  { url: "https://files.example/a.txt", filename: "a.txt", mediaType: "text/plain" },
  { data: { deep: [1, { ok: true }] } },
];
const PARTS_0_3 = [
  { kind: "text", text: "conform: echo" },
  { kind: "file", file: { bytes: "AAH+/w==", mimeType: "application/octet-stream" } },
  { kind: "file", file: { uri: "https://files.example/a.txt", mimeType: "text/plain" } },
  { kind: "data", data: { deep: [1, { ok: true }] } },
];
const CLASSES: Refusals = {
  notFound: "TaskNotFoundError",
  notCancelable: "TaskNotCancelableError",
  closed: "UnsupportedOperationError",
  otherContext: "InvalidParamsError",
  unknownStream: "TaskNotFoundError",
};
// A2A defines no reason for invalid parameters, so ours is in our own domain, which this client does not know on gRPC.
const GRPC_CLASSES: Refusals = { ...CLASSES, otherContext: "A2AClientError" };
// JSON-RPC codes of A2A 0.3 §8.2.
const CODES: Refusals = {
  notFound: -32001,
  notCancelable: -32002,
  closed: -32004,
  otherContext: -32602,
  unknownStream: -32001,
};
// It reads only the status, and for a stream not even that.
const STATUSES: Refusals = { notFound: 404, notCancelable: 409, closed: 400, otherContext: 400, unknownStream: 400 };

const ONE_TASK = { total: 1, "same task": [true] };

const NEW: Script = { environment: "a2a-1.3.0", file: "client_10" };
const OLD: Script = { environment: "a2a-0.3.3", file: "client_03" };

const INTERFACES: readonly InterfaceUnderTest[] = [
  { script: NEW, args: ["JSONRPC", "1.0"], end: "", parts: PARTS_1_0, refusals: CLASSES, list: ONE_TASK },
  { script: NEW, args: ["HTTP+JSON", "1.0"], end: "", parts: PARTS_1_0, refusals: CLASSES, list: ONE_TASK },
  { script: NEW, args: ["GRPC", "1.0"], end: "", parts: PARTS_1_0, refusals: GRPC_CLASSES, list: ONE_TASK },
  { script: NEW, args: ["JSONRPC", "0.3"], end: "", parts: PARTS_1_0, refusals: CLASSES },
  { script: NEW, args: ["HTTP+JSON", "0.3"], end: "", parts: PARTS_1_0, refusals: CLASSES },
  { script: NEW, args: ["GRPC", "0.3"], end: "", parts: PARTS_1_0, refusals: CLASSES },
  { script: OLD, args: ["JSONRPC"], end: ", final", parts: PARTS_0_3, refusals: CODES },
  { script: OLD, args: ["HTTP+JSON"], end: ", final", parts: PARTS_0_3, refusals: STATUSES },
];

describe.each(INTERFACES)("the official Python client of $script.environment by $args against our server", (iface) => {
  let server: Server;
  beforeAll(async () => {
    server = await startKoine();
  });
  afterAll(() => server?.close());

  test.skipIf(pythonFor(iface.script.environment) === undefined)("gets the same results as every other client", async () => {
    const { end, parts, refusals, list } = iface;
    const seen = await runScript(iface.script, server.url, ...iface.args);
    expect(seen).toEqual({
      card: { name: "conform", streaming: true },
      message: "you said: hello",
      task: { state: "completed", artifacts: { result: "done" } },
      get: { state: "completed", artifacts: { result: "done" } },
      stream: [
        "task submitted",
        "status working",
        "artifact stream: chunk 1 ",
        "artifact stream+ chunk 2 ",
        "artifact stream+ chunk 3 !",
        `status completed${end}`,
      ],
      "streamed message": ["message you said: hello"],
      question: ["input-required", "what is the answer?"],
      answer: { "same task": true, state: "completed", artifacts: { result: "the answer was: 42" } },
      cancel: { snapshot: true, cancelled: "canceled", last: [`status canceled${end}`, `status canceled${end}`] },
      parts,
      failed: ["failed", "as commanded"],
      ...(list === undefined ? {} : { list }),
      refusals: {
        "get of an unknown task": refusals.notFound,
        "cancel of an unknown task": refusals.notFound,
        "a message for an unknown task": refusals.notFound,
        "cancel of a finished task": refusals.notCancelable,
        "a message for a finished task": refusals.closed,
        "subscribe to an unknown task": refusals.unknownStream,
        "a message of another context": refusals.otherContext,
        "a push configuration": "no error",
      },
      afterwards: "you said: still there?",
    });
  });
});
