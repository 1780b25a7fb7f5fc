import { COUNTER, STREAM_EVENTS, TEXT } from "../../a2a/workload.js";
import { AGENT, JSON_TYPE, jsonAnswer, jsonSent, MOMENT, sseAnswer, uuidOf, type Wire } from "./wire.js";

/** BeeAI ACP 0.2: a run that is waited for, and a run that is listened to. */

interface RunRequest {
  readonly session_id?: string | null;
  readonly mode?: string;
  readonly input: readonly { readonly parts: readonly unknown[] }[];
}

export const ACP: Wire = {
  id: "acp",
  pin: "acp@0.2/REST",
  http: 1,
  send: jsonSent("/runs", runBody("sync")),
  stream: jsonSent("/runs", runBody("stream"), { accept: "text/event-stream" }),
  documents: () => {
    const manifest = { name: AGENT, description: "Echoes", input_content_types: ["*/*"], output_content_types: ["*/*"] };
    return { "/ping": {}, "/agents": { agents: [manifest] }, [`/agents/${AGENT}`]: manifest };
  },
  answer({ method, path, body, number }) {
    if (method !== "POST" || path !== "/runs") return NOT_THERE;
    // Only called by the benchmark and the measured code.
    const { session_id, mode, input } = JSON.parse(body.toString()) as RunRequest;
    const parts = input[0]?.parts ?? [];
    const names = { run_id: uuidOf(1, number), agent_name: AGENT, session_id: session_id ?? uuidOf(2, number) };
    return mode === "stream" ? sseAnswer(eventsOf(names, parts)) : jsonAnswer(runOf(names, "completed", [messageOf(parts)]));
  },
};

const NOT_THERE = {
  kind: "aside",
  status: 404,
  contentType: JSON_TYPE,
  body: JSON.stringify({ code: "not_found", message: "not found" }),
} as const;

/** ACP messages have no id, so the number is part of the text. */
function runBody(mode: string): string {
  const parts = [{ content_type: "text/plain", content: `${COUNTER} ${TEXT}` }];
  return JSON.stringify({ agent_name: AGENT, input: [{ role: "user", parts }], mode });
}

interface Names {
  readonly run_id: string;
  readonly agent_name: string;
  readonly session_id: string;
}

function runOf(names: Names, status: string, output: readonly unknown[]) {
  const finished_at = status === "completed" ? MOMENT : null;
  return { ...names, status, await_request: null, output, error: null, created_at: MOMENT, finished_at };
}

function messageOf(parts: readonly unknown[], completed_at: string | null = MOMENT) {
  return { role: `agent/${AGENT}`, parts, created_at: MOMENT, completed_at };
}

/** Run, progress and message begin, and message and run end; the rest are pieces of the message. */
const PIECES = STREAM_EVENTS - 5;

function eventsOf(names: Names, parts: readonly unknown[]): readonly unknown[] {
  const [part] = parts;
  const pieces = Array.from({ length: PIECES }, () => part);
  const message = messageOf(pieces);
  return [
    { type: "run.created", run: runOf(names, "created", []) },
    { type: "run.in-progress", run: runOf(names, "in-progress", []) },
    { type: "message.created", message: messageOf([], null) },
    ...pieces.map((piece) => ({ type: "message.part", part: piece })),
    { type: "message.completed", message },
    { type: "run.completed", run: runOf(names, "completed", [message]) },
  ];
}
