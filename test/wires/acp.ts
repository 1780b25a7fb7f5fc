import { at, notAnError, type Sent, type Tree, type Wire } from "./wire.js";

/** BeeAI ACP and its plain form, written and read without Koine's code. */

const JSON_TYPE = { "content-type": "application/json" } as const;

const post = (path: string, body: unknown): Sent => ({ method: "POST", path, headers: JSON_TYPE, body: JSON.stringify(body) });
const get = (path: string): Sent => ({ method: "GET", path, headers: {}, body: undefined });

/** A run request with one message of text, for the agent `conform`. */
export const runBody = (words: string, more: Tree = {}): Tree => ({
  agent_name: "conform",
  input: [{ role: "user", parts: [{ content_type: "text/plain", content: words }] }],
  ...more,
});

/** The resume of an awaiting run. */
export const resumeBody = (words: string, mode = "sync"): Tree => ({
  await_resume: { type: "message", message: { role: "user", parts: [{ content_type: "text/plain", content: words }] } },
  mode,
});

export const ACP_REST = {
  name: "BeeAI ACP",
  parts: "parts",
  params: (words: string) => runBody(words),
  send: (params: unknown) => post("/runs", params),
  getTask: (id: string) => get(`/runs/${id}`),
  cancelTask: (id: string) => post(`/runs/${id}/cancel`, {}),
  answerTask: (id: string, words: string) => post(`/runs/${id}`, resumeBody(words)),
  stream: (params: unknown) => post("/runs", { ...(params as Tree), mode: "stream" }), // what `params` gave
  text: (answer: unknown) => at(answer, "output", 0, "parts", 0, "content"),
  taskId: (answer: unknown) => String(at(answer, "run_id")),
  refused(status: number, body: unknown) {
    const [code, message] = [at(body, "code"), at(body, "message")];
    // The three of the specification; official clients refuse any other.
    const known = ["server_error", "invalid_input", "not_found"].includes(String(code));
    if (!known || typeof message !== "string" || status < 400) throw notAnError(status, body);
    return { code: `${status} ${code}`, message };
  },
} satisfies Wire;

export const ACP_PLAIN = {
  name: "plain /acp/message",
  parts: "parts",
  params: (words: string) => ({ id: "p-1", type: "request", sender: "tester", payload: { text: words } }),
  send: (params: unknown) => post("/acp/message", params),
  getTask: (id: string) => get(`/acp/status?run_id=${id}`),
  answerTask: (id: string, words: string) => post("/acp/message", { payload: { text: words }, run_id: id }),
  stream: (params: unknown) => post("/acp/message", { ...(params as Tree), stream: true }), // what `params` gave
  text: (answer: unknown) => at(answer, "results", 0, "content"),
  taskId: (answer: unknown) => String(at(answer, "run_id")),
  refused(status: number, body: unknown) {
    const [code, message] = [at(body, "error", "code"), at(body, "error", "message")];
    if (!String(code).startsWith("E_") || typeof message !== "string" || status < 400) throw notAnError(status, body);
    return { code: `${status} ${code}`, message };
  },
} satisfies Wire;
