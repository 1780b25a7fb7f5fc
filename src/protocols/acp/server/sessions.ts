import { AgentError, type Call, isObject, type Maybe, type Task } from "../../../envelope/index.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { encodeMessage, encodeRun, isUuid, outputLength } from "../codec.js";
import type { WireMessage, WireSession } from "../wire.js";
import { defaultAgent, type RunStart, runFacts, startOf } from "./agents.js";
import { type AdmittedRequest, beginCall, oneEvent } from "./request-context.js";
import { findTask } from "./runs.js";

/** Responses are specific to the caller and must not be cached for others. */
const PRIVATE = { "cache-control": "private, no-store" } as const;

/**
 * `GET /sessions/{session_id}`: the URLs of its messages, oldest first. A session consists of the caller's own runs; as in the
 * SDK, only completed ones are history. Without any run of the caller it is unknown. History that a caller brought from another
 * server comes first, unchanged, so that it can be moved to a third server.
 */
export async function showSession(admitted: AdmittedRequest, sessionId: string): Promise<HttpResponse> {
  const { host, request } = admitted;
  const runs = await runsIn(admitted, sessionId, `${host.publicUrl(request)}/resources`);
  if (runs.length === 0) throw new AgentError("not_found", "there is no such session", { field: "session_id" });
  const inOrder = runs.sort((a, b) => a.start.at - b.start.at || a.start.order - b.start.order);
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
export async function showResource(admitted: AdmittedRequest, runId: string, index: number): Promise<HttpResponse> {
  const { event, call } = await findTask(admitted, runId);
  const { task } = event;
  const message = isRecorded(task) ? messagesOf(admitted, call, task)[index] : undefined;
  if (message === undefined) throw new AgentError("not_found", "there is no such resource", { field: "resource_id" });
  return jsonResponse(200, JSON.stringify(message), PRIVATE);
}

/** A task of another protocol may have an id that is not valid in these paths. */
function isRecorded({ id, status }: Task): boolean {
  return status.state === "completed" && isUuid(id);
}

/** The input messages, then the output. */
function messagesOf({ host }: AdmittedRequest, call: Call, task: Task): readonly WireMessage[] {
  const facts = runFacts(host, { kind: "task", task }, call);
  const input = task.history.filter(({ role }) => role === "user").map((message) => encodeMessage(message, facts.agentName));
  return [...input, ...encodeRun(task, facts).output];
}

/** The number of messages, without encoding them: there may be a thousand runs, each as long as a journal. */
function messagesIn(task: Task): number {
  return task.history.filter(({ role }) => role === "user").length + outputLength(task);
}

/** The start time of a run, the URLs of its messages, and the session history that came with it. */
interface SessionRun {
  readonly start: RunStart;
  readonly messages: readonly string[];
  readonly brought: Maybe<Brought>;
}

type Brought = Pick<WireSession, "history" | "state">;

/** Contains all earlier history, here and elsewhere: the caller read it from the previous server. */
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

/** The most recently changed runs, as many as the settings allow, oldest first. Only the addresses of a page are kept in memory. */
async function runsIn(admitted: AdmittedRequest, contextId: string, base: string): Promise<SessionRun[]> {
  const { host, settings } = admitted;
  const call = beginCall(admitted, defaultAgent(host).name);
  let runs: SessionRun[] = [];
  let pageToken: Maybe<string>;
  do {
    const page = await oneEvent(host.handler({ kind: "task.list", contextId, pageToken, artifacts: true }, call));
    if (page.kind !== "tasks") throw new AgentError("internal", "expected a page of tasks");
    // Pages come newest first.
    const older = page.tasks.toReversed().map((task): SessionRun => {
      const messages = Array.from(
        { length: isRecorded(task) ? messagesIn(task) : 0 },
        (_, index) => `${base}/${task.id}.${index}`,
      );
      return { start: startOf(host, task), messages, brought: broughtWith(task) };
    });
    runs = [...older, ...runs];
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && runs.length < settings.sessionRuns);
  return runs.slice(-settings.sessionRuns);
}
