import { AgentError, type Call, isObject, type Maybe, type Task } from "../../../envelope/index.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { encodeMessage, encodeRun, isUuid, outputLength } from "../codec.js";
import type { WireMessage, WireSession } from "../wire.js";
import { createdAt, defaultAgent, runFacts } from "./agents.js";
import { type Admitted, beginCall, oneEvent } from "./asked.js";
import { findTask } from "./runs.js";

/** What one caller may see is kept for no other. */
const PRIVATE = { "cache-control": "private, no-store" } as const;

/**
 * `GET /sessions/{session_id}`: addresses of its messages, the oldest first. A session is nothing beside the caller's own
 * runs in it, and as in the SDK only completed ones are history. One without any run of the caller is unknown to it. What a
 * caller brought from another server stands in front as it came: whoever moves on to a third server takes all of it along.
 */
export async function showSession(admitted: Admitted, sessionId: string): Promise<HttpResponse> {
  const { host, request } = admitted;
  const runs = await runsIn(admitted, sessionId, `${host.publicUrl(request)}/resources`);
  if (runs.length === 0) throw new AgentError("not_found", "there is no such session", { field: "session_id" });
  // Listed newest first; of two with the same start time, the later in the list is the older.
  const inOrder = runs.reverse().sort((a, b) => a.at - b.at);
  const last = Math.max(
    0,
    inOrder.findLastIndex(({ brought }) => brought !== undefined),
  );
  const { history = [], state = null } = inOrder[last]?.brought ?? {};
  const here = inOrder.slice(last).flatMap(({ messages }) => messages);
  const session: WireSession = { id: sessionId, history: [...history, ...here], state };
  return jsonResponse(200, JSON.stringify(session), PRIVATE);
}

/** `GET /resources/{run_id}.{index}`: one message of a session's history. */
export async function showResource(admitted: Admitted, runId: string, index: number): Promise<HttpResponse> {
  const { event, call } = await findTask(admitted, runId);
  const { task } = event;
  const message = isRecorded(task) ? messagesOf(admitted, call, task)[index] : undefined;
  if (message === undefined) throw new AgentError("not_found", "there is no such resource", { field: "resource_id" });
  return jsonResponse(200, JSON.stringify(message), PRIVATE);
}

/** A task of another wire may have an id that no path of this one can hold. */
function isRecorded({ id, status }: Task): boolean {
  return status.state === "completed" && isUuid(id);
}

/** The input messages, then the output. */
function messagesOf({ host }: Admitted, call: Call, task: Task): readonly WireMessage[] {
  const facts = runFacts(host, { kind: "task", task }, call);
  const heard = task.history.filter(({ role }) => role === "user").map((message) => encodeMessage(message, facts.agentName));
  return [...heard, ...encodeRun(task, facts).output];
}

/** How many they are. Nothing is written for it: there may be a thousand runs, each as long as a journal. */
function messagesIn(task: Task): number {
  return task.history.filter(({ role }) => role === "user").length + outputLength(task);
}

/** When a run of a session began, the addresses of its messages, and the session as it was brought along with it. */
interface SessionRun {
  readonly at: number;
  readonly messages: readonly string[];
  readonly brought: Maybe<Brought>;
}

type Brought = Pick<WireSession, "history" | "state">;

/** It holds all that was before it, here and elsewhere: the caller asked the server it came from. */
function broughtWith({ history }: Task): Maybe<Brought> {
  const kept = history[0]?.extra?.["acp"];
  const session = isObject(kept) ? kept["session"] : undefined;
  if (!isObject(session) || !Array.isArray(session["history"])) return undefined;
  const { state } = session;
  return {
    history: session["history"].filter((url) => typeof url === "string"),
    state: typeof state === "string" ? state : undefined,
  };
}

/** Reads page by page, newest first, up to the limit of the settings. Only the addresses are kept. */
async function runsIn(admitted: Admitted, contextId: string, base: string): Promise<SessionRun[]> {
  const { host, settings } = admitted;
  const call = beginCall(admitted, defaultAgent(host).name);
  const runs: SessionRun[] = [];
  let pageToken: Maybe<string>;
  do {
    const page = await oneEvent(host.handler({ kind: "task.list", contextId, pageToken, artifacts: true }, call));
    if (page.kind !== "tasks") throw new AgentError("internal", "a page of tasks was expected and something else came");
    for (const task of page.tasks) {
      const messages = Array.from(
        { length: isRecorded(task) ? messagesIn(task) : 0 },
        (_, index) => `${base}/${task.id}.${index}`,
      );
      runs.push({ at: createdAt(host, task), messages, brought: broughtWith(task) });
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && runs.length < settings.sessionRuns);
  return runs.slice(0, settings.sessionRuns);
}
