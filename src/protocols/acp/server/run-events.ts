import { AgentError, type Call, type Cursor } from "../../../envelope/index.js";
import { streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { defaultAgent } from "./agents.js";
import { type AdmittedRequest, beginCall } from "./request-context.js";
import { RunEvents, runForm } from "./run-form.js";
import { followed, logOf } from "./run-log.js";

/**
 * Limit of a log, in multiples of the body limit. Output appears as parts, as a message and in the run, and every turn repeats
 * the run, so a short task with many turns could exceed memory.
 */
const LOG_BODIES = 4;

/**
 * `GET /runs/{run_id}/events`: the current log as one JSON document. With `Accept: text/event-stream`, a Koine extension: the
 * current run and then all further events to its end. `Last-Event-ID` resumes an interrupted stream.
 */
export async function showEvents(admitted: AdmittedRequest, runId: string): Promise<HttpResponse> {
  const { host, request } = admitted;
  const call = beginCall(admitted, defaultAgent(host).name);
  if (request.method === "GET" && wantsEvents(request)) return followEvents(admitted, call, runId);
  const events = new RunEvents(host, call, "created");
  const most = LOG_BODIES * host.limits.bodyBytes;
  const log: string[] = [];
  let length = 0;
  for await (const event of logOf(host, call, runId))
    for (const each of events.write(event)) {
      const text = JSON.stringify(each);
      length += text.length;
      if (length > most)
        throw new AgentError("too_large", "the log is too long for one document; request it as text/event-stream");
      log.push(text);
    }
  return jsonResponse(200, `{"events":[${log.join(",")}]}`, { "cache-control": "no-store" });
}

function followEvents({ host, request }: AdmittedRequest, call: Call, taskId: string): Promise<HttpResponse> {
  // The cursor is opaque here; the task runtime validates it.
  const after = (request.headers["last-event-id"] || undefined) as Cursor | undefined;
  const events = new RunEvents(host, call, after === undefined ? "created" : "resumed");
  return streamResponse(followed(host, call, { taskId, after }), runForm(events, "end"), host.limits);
}
