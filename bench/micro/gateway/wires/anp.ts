import { COUNTER, STREAM_CHUNKS, TEXT } from "../../a2a/workload.js";
import { AGENT, jsonAnswer, jsonSent, sseAnswer, type Wire } from "./wire.js";

/** ANP 1.2 by HTTP, without signatures: load tools cannot sign. What sealed sessions cost is in `npm run bench:security`. */

interface Request {
  readonly id: string;
  readonly method: string;
  readonly params: { readonly delivery?: string; readonly message?: { readonly sessionId?: string; readonly parts: unknown } };
}
interface Names {
  readonly taskId: string;
  readonly contextId: string;
}

const METHODS = ["koine.send", "koine.task.get", "koine.task.list", "koine.task.cancel", "koine.task.subscribe", "koine.ping"];

export const ANP: Wire = {
  id: "anp",
  pin: "anp@1.2/JSONRPC",
  http: 1,
  send: jsonSent("/anp/rpc", body()),
  stream: jsonSent("/anp/rpc", body("stream"), { accept: "text/event-stream" }),
  documents: ({ 1: port }) => {
    const base = `http://127.0.0.1:${port}/anp`;
    const description = {
      protocolType: "ANP",
      protocolVersion: "1.0.0",
      type: "AgentDescription",
      name: AGENT,
      description: "Echoes",
      url: `${base}/ad.json`,
      securityDefinitions: { nosec_sc: { scheme: "nosec" } },
      security: "nosec_sc",
      interfaces: [{ type: "StructuredInterface", protocol: "openrpc", url: `${base}/interface.json`, description: "Echoes" }],
    };
    const openrpc = {
      openrpc: "1.3.2",
      info: { title: AGENT, version: "1.0.0" },
      servers: [{ name: AGENT, url: `${base}/rpc` }],
      methods: METHODS.map((name) => ({ name, description: name, params: [], result: { name: "event", schema: {} } })),
    };
    return { "/anp/ad.json": description, "/anp/interface.json": openrpc };
  },
  answer({ method, path, body: asked, number }) {
    if (method !== "POST" || path !== "/anp/rpc") return undefined;
    // Only called by the benchmark and the measured code.
    const { id, params, method: called } = JSON.parse(asked.toString()) as Request;
    const { message, delivery } = params;
    if (message === undefined) {
      const answer = called === "koine.ping" ? { result: { done: true } } : { error: { code: -32601, message: "not found" } };
      return {
        kind: "aside",
        status: 200,
        contentType: "application/json",
        body: JSON.stringify({ jsonrpc: "2.0", id, ...answer }),
      };
    }
    const names = { taskId: `task-${number}`, contextId: message.sessionId ?? `context-${number}` };
    if (delivery !== "stream") return jsonAnswer({ jsonrpc: "2.0", id, result: { task: taskOf(names, message.parts) } });
    const events = eventsOf(names, message.parts).map((event) => ({
      jsonrpc: "2.0",
      method: "koine.event",
      params: { id, event },
    }));
    return sseAnswer([...events, { jsonrpc: "2.0", id, result: null }]);
  },
};

function body(delivery?: string): string {
  const message = { id: `m-${COUNTER}`, role: "user", parts: [{ text: TEXT }] };
  return JSON.stringify({ jsonrpc: "2.0", id: COUNTER, method: "koine.send", params: { message, delivery } });
}

function taskOf({ taskId: id, contextId }: Names, parts: unknown) {
  return { id, contextId, status: statusOf("completed"), artifacts: [{ id: "result", parts }] };
}

const statusOf = (state: string) => ({ state, at: Date.now() });

function eventsOf(names: Names, parts: unknown): readonly object[] {
  const { taskId: id, contextId } = names;
  return [
    { task: { id, contextId, status: statusOf("submitted") } },
    { status: statusOf("working"), ...names },
    ...Array.from({ length: STREAM_CHUNKS }, (_, index) => ({
      artifact: { id: "result", parts },
      append: index > 0,
      last: index === STREAM_CHUNKS - 1,
      ...names,
    })),
    { status: statusOf("completed"), ...names },
  ];
}
