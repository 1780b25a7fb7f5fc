import { HEADERS, restBody, rpcBody, STREAM_CHUNKS, TEXT } from "../../a2a/workload.js";
import {
  AGENT,
  type Answer,
  type Asked,
  JSON_TYPE,
  jsonAnswer,
  jsonSent,
  MOMENT,
  type Sent,
  sseAnswer,
  type Wire,
} from "./wire.js";

/** A2A with JSON bodies: 1.0 on JSON-RPC and REST, 0.3 on JSON-RPC. The agent answers with a task that has one artifact. */

interface Part {
  readonly text: string;
}
interface WireMessage {
  readonly contextId?: string;
  readonly parts: readonly Part[];
}
interface RpcRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: { readonly message?: WireMessage };
}
interface Names {
  readonly taskId: string;
  readonly contextId: string;
}

export const JSONRPC_1_0: Wire = {
  id: "a2a-1.0-jsonrpc",
  pin: "a2a@1.0/JSONRPC",
  http: 1,
  send: of10("/a2a", rpcBody("SendMessage")),
  stream: of10("/a2a", rpcBody("SendStreamingMessage"), true),
  documents: ({ 1: port }) => cardOf("JSONRPC", `http://127.0.0.1:${port}/a2a`),
  answer: (asked) => answerRpc(asked, GRAMMAR_1_0),
};

export const REST_1_0: Wire = {
  id: "a2a-1.0-rest",
  pin: "a2a@1.0/HTTP+JSON",
  http: 1,
  send: of10("/a2a/message:send", restBody()),
  stream: of10("/a2a/message:stream", restBody(), true),
  documents: ({ 1: port }) => cardOf("HTTP+JSON", `http://127.0.0.1:${port}/a2a`),
  answer(asked) {
    if (asked.method === "GET" && asked.path.startsWith("/a2a/tasks/")) return NO_SUCH_TASK;
    if (!asked.path.startsWith("/a2a/message:")) return undefined;
    // Only called by the benchmark and the measured code.
    const { message } = JSON.parse(asked.body.toString()) as { readonly message: WireMessage };
    const names = namesOf(message, asked.number);
    return asked.path.endsWith(":stream") ? sseAnswer(events10(message.parts, names)) : jsonAnswer(task10(message.parts, names));
  },
};

export const JSONRPC_0_3: Wire = {
  id: "a2a-0.3",
  pin: "a2a@0.3/JSONRPC",
  http: 1,
  send: jsonSent("/a2a", rpcBody03("message/send")),
  stream: jsonSent("/a2a", rpcBody03("message/stream"), { accept: "text/event-stream" }),
  documents: ({ 1: port }) => {
    const { supportedInterfaces: _, ...members } = card("JSONRPC", "");
    const url = `http://127.0.0.1:${port}/a2a`;
    return { "/.well-known/agent-card.json": { ...members, protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC" } };
  },
  answer: (asked) => answerRpc(asked, GRAMMAR_0_3),
};

function of10(path: string, body: string, streams = false): Sent {
  return jsonSent(path, body, { "a2a-version": HEADERS["A2A-Version"], ...(streams && { accept: "text/event-stream" }) });
}

function rpcBody03(method: string): string {
  const { params, ...rest } = JSON.parse(rpcBody("SendMessage"));
  const { messageId } = params.message;
  const message = { kind: "message", messageId, role: "user", parts: [{ kind: "text", text: TEXT }] };
  return JSON.stringify({ ...rest, method, params: { message } });
}

/** The card: the address and protocol of the agent. */
export function cardOf(binding: string, url: string): Readonly<Record<string, unknown>> {
  return { "/.well-known/agent-card.json": card(binding, url) };
}

function card(protocolBinding: string, url: string) {
  return {
    name: AGENT,
    description: "Echoes",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding, protocolVersion: "1.0" }],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "echo", name: "Echo", description: "Echoes", tags: ["echo"] }],
  };
}

function namesOf({ contextId }: WireMessage, number: number): Names {
  return { taskId: `task-${number}`, contextId: contextId ?? `context-${number}` };
}

/** The method names of one version, and its result format. */
interface Grammar {
  readonly send: string;
  readonly stream: string;
  task(parts: readonly Part[], names: Names): unknown;
  events(parts: readonly Part[], names: Names): readonly unknown[];
}

function answerRpc(asked: Asked, { send, stream, task, events }: Grammar): Answer | undefined {
  if (asked.method !== "POST" || asked.path !== "/a2a") return undefined;
  // Only called by the benchmark and the measured code.
  const { id, method, params } = JSON.parse(asked.body.toString()) as RpcRequest;
  const { message } = params;
  if (message === undefined || (method !== send && method !== stream)) return rpcAside(id, method);
  const names = namesOf(message, asked.number);
  if (method === send) return jsonAnswer({ jsonrpc: "2.0", id, result: task(message.parts, names) });
  return sseAnswer(events(message.parts, names).map((result) => ({ jsonrpc: "2.0", id, result })));
}

/** Discovery requests a task that does not exist; methods of the other version are unknown. */
function rpcAside(id: unknown, method: string): Answer {
  const known = method === "GetTask" || method === "tasks/get";
  const error = known ? { code: -32001, message: "Task not found" } : { code: -32601, message: "Method not found" };
  return { kind: "aside", status: 200, contentType: JSON_TYPE, body: JSON.stringify({ jsonrpc: "2.0", id, error }) };
}

const NO_SUCH_TASK: Answer = {
  kind: "aside",
  status: 404,
  contentType: JSON_TYPE,
  body: JSON.stringify({
    error: {
      code: 404,
      status: "NOT_FOUND",
      message: "Task not found",
      details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" }],
    },
  }),
};

function task10(parts: readonly Part[], { taskId: id, contextId }: Names) {
  const status = { state: "TASK_STATE_COMPLETED", timestamp: MOMENT };
  return { task: { id, contextId, status, artifacts: [{ artifactId: "result", parts }] } };
}

function events10(parts: readonly Part[], { taskId, contextId }: Names): readonly unknown[] {
  const status = (state: string) => ({ state, timestamp: MOMENT });
  const chunk = (_: unknown, index: number) => ({
    artifactUpdate: {
      taskId,
      contextId,
      artifact: { artifactId: "result", parts },
      append: index > 0,
      lastChunk: index === STREAM_CHUNKS - 1,
    },
  });
  return [
    { task: { id: taskId, contextId, status: status("TASK_STATE_SUBMITTED") } },
    { statusUpdate: { taskId, contextId, status: status("TASK_STATE_WORKING") } },
    ...Array.from({ length: STREAM_CHUNKS }, chunk),
    { statusUpdate: { taskId, contextId, status: status("TASK_STATE_COMPLETED") } },
  ];
}

function task03(parts: readonly Part[], { taskId: id, contextId }: Names) {
  const status = { state: "completed", timestamp: MOMENT };
  return { kind: "task", id, contextId, status, artifacts: [{ artifactId: "result", parts }] };
}

function events03(parts: readonly Part[], { taskId, contextId }: Names): readonly unknown[] {
  const status = (state: string) => ({
    kind: "status-update",
    taskId,
    contextId,
    status: { state, timestamp: MOMENT },
    final: state === "completed",
  });
  const chunk = (_: unknown, index: number) => ({
    kind: "artifact-update",
    taskId,
    contextId,
    artifact: { artifactId: "result", parts },
    append: index > 0,
    lastChunk: index === STREAM_CHUNKS - 1,
  });
  return [
    { kind: "task", id: taskId, contextId, status: { state: "submitted", timestamp: MOMENT } },
    status("working"),
    ...Array.from({ length: STREAM_CHUNKS }, chunk),
    status("completed"),
  ];
}

const GRAMMAR_1_0: Grammar = { send: "SendMessage", stream: "SendStreamingMessage", task: task10, events: events10 };
const GRAMMAR_0_3: Grammar = { send: "message/send", stream: "message/stream", task: task03, events: events03 };
