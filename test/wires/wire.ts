/** The interfaces of the server over plain sockets: requests are written and responses read without Koine's code. */

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | Uint8Array | undefined;
}

export type Tree = { [name: string]: unknown };

/** The details of a refusal, in this wire's own form. */
export interface Refused {
  /** JSON-RPC: its code. REST and Agora: the HTTP status. Plain: its error code. BeeAI ACP: the status and its code. */
  readonly code: unknown;
  readonly message: string;
}

export interface Wire {
  readonly name: string;
  /** The member that holds a message's parts. */
  readonly parts: "parts" | "content";
  /** Parameters of a valid send: `{message: …}`. */
  params(words: string): Tree;
  send(params: unknown): Sent;
  /** Undefined if the wire has no such operation. */
  readonly getTask?: (id: string) => Sent;
  readonly cancelTask?: (id: string) => Sent;
  readonly answerTask?: (id: string, words: string) => Sent;
  readonly stream?: (params: unknown) => Sent;
  /** The text of the answer to a valid send. */
  text(answer: unknown): unknown;
  /** The id of the task in the answer to a send. */
  taskId(answer: unknown): string;
  refused(status: number, body: unknown): Refused;
}

const JSON_TYPE = { "content-type": "application/json" } as const;
const V1 = { ...JSON_TYPE, "a2a-version": "1.0" } as const;

/** Reads a nested member: `at(value, "result", "message", "parts", 0, "text")`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (inner === null || inner === undefined ? undefined : (inner as Tree)[name]),
    value,
  ); // members of null are excluded above
}

function rpc(headers: Sent["headers"], method: string, params: unknown): Sent {
  return { method: "POST", path: "/a2a", headers, body: JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }) };
}

function rest(headers: Sent["headers"], method: string, path: string, body?: unknown): Sent {
  return { method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) };
}

function rpcError(status: number, body: unknown): Refused {
  const [version, code, message] = [at(body, "jsonrpc"), at(body, "error", "code"), at(body, "error", "message")];
  if (version !== "2.0" || typeof message !== "string") throw notAnError(status, body);
  return { code, message };
}

/** The response is not a refusal in the wire's own form. */
export function notAnError(status: number, body: unknown): Error {
  return new Error(`no error of this binding: HTTP ${status} ${JSON.stringify(body)}`);
}

export const JSON_RPC_1_0: Wire = {
  name: "1.0 JSON-RPC",
  parts: "parts",
  params: (words) => ({ message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text: words }] } }),
  send: (params) => rpc(V1, "SendMessage", params),
  getTask: (id) => rpc(V1, "GetTask", { id }),
  cancelTask: (id) => rpc(V1, "CancelTask", { id }),
  stream: (params) => rpc(V1, "SendStreamingMessage", params),
  text: (answer) => at(answer, "result", "message", "parts", 0, "text"),
  taskId: (answer) => String(at(answer, "result", "task", "id")),
  refused: rpcError,
};

export const REST_1_0: Wire = {
  name: "1.0 REST",
  parts: "parts",
  params: JSON_RPC_1_0.params,
  send: (params) => rest(V1, "POST", "/a2a/message:send", params),
  getTask: (id) => rest(V1, "GET", `/a2a/tasks/${encodeURIComponent(id)}`),
  cancelTask: (id) => rest(V1, "POST", `/a2a/tasks/${encodeURIComponent(id)}:cancel`, {}),
  stream: (params) => rest(V1, "POST", "/a2a/message:stream", params),
  text: (answer) => at(answer, "message", "parts", 0, "text"),
  taskId: (answer) => String(at(answer, "task", "id")),
  refused(status, body) {
    const message = at(body, "error", "message");
    if (at(body, "error", "code") !== status || typeof message !== "string") throw notAnError(status, body);
    return { code: status, message };
  },
};

export const JSON_RPC_0_3: Wire = {
  name: "0.3 JSON-RPC",
  parts: "parts",
  params: (words) => ({
    message: { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: words }] },
  }),
  send: (params) => rpc(JSON_TYPE, "message/send", params),
  getTask: (id) => rpc(JSON_TYPE, "tasks/get", { id }),
  cancelTask: (id) => rpc(JSON_TYPE, "tasks/cancel", { id }),
  stream: (params) => rpc(JSON_TYPE, "message/stream", params),
  text: (answer) => at(answer, "result", "parts", 0, "text"),
  taskId: (answer) => String(at(answer, "result", "id")),
  refused: rpcError,
};

export const REST_0_3: Wire = {
  name: "0.3 REST",
  parts: "content",
  params: (words) => ({
    message: { messageId: "m-1", role: "ROLE_USER", content: [{ text: words }] },
    configuration: { blocking: true },
  }),
  send: (params) => rest(JSON_TYPE, "POST", "/a2a/v1/message:send", params),
  getTask: (id) => rest(JSON_TYPE, "GET", `/a2a/v1/tasks/${encodeURIComponent(id)}`),
  cancelTask: (id) => rest(JSON_TYPE, "POST", `/a2a/v1/tasks/${encodeURIComponent(id)}:cancel`, {}),
  stream: (params) => rest(JSON_TYPE, "POST", "/a2a/v1/message:stream", params),
  text: (answer) => at(answer, "message", "content", 0, "text"),
  taskId: (answer) => String(at(answer, "task", "id")),
  refused(status, body) {
    const [code, message] = [at(body, "code"), at(body, "message")];
    if (typeof code !== "number" || typeof message !== "string" || status < 400) throw notAnError(status, body);
    return { code: status, message };
  },
};

export const PLAIN: Wire = {
  name: "plain /message",
  parts: "parts",
  params: (words) => ({ message: { text: words } }),
  send: (params) => rest(JSON_TYPE, "POST", "/message", { id: "p-1", params }),
  stream: (params) => rest({ ...JSON_TYPE, accept: "text/event-stream" }, "POST", "/message", { id: "p-1", params }),
  text: (answer) => at(answer, "events", 0, "data", "text"),
  taskId: (answer) => String(at(answer, "events", 0, "data", "artifactUpdate", "taskId")),
  refused(status, body) {
    const [code, message] = [at(body, "error", "code"), at(body, "error", "message")];
    if (!String(code).startsWith("E_") || typeof message !== "string" || status < 400) throw notAnError(status, body);
    return { code, message };
  },
};

export const A2A_WIRES = [JSON_RPC_1_0, REST_1_0, JSON_RPC_0_3, REST_0_3] as const;
export const WIRES = [...A2A_WIRES, PLAIN] as const;

export async function ask(url: string, sent: Sent, more: Sent["headers"] = {}): Promise<{ status: number; body: unknown }> {
  const { method, path, headers, body } = sent;
  const init: RequestInit = { method, headers: { ...headers, ...more } };
  if (body !== undefined) init.body = body;
  const response = await fetch(url + path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
