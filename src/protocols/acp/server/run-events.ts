import { AgentError, type Call, type Cursor } from "../../../envelope/index.js";
import { streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpResponse } from "../../../transport/exchange.js";
import { jsonResponse } from "../../../transport/response.js";
import { defaultAgent } from "./agents.js";
import { type Admitted, beginCall } from "./asked.js";
import { RunEvents, runForm } from "./run-form.js";
import { followed, logOf } from "./run-log.js";

/**
 * How many bodies long one log may be. What a run puts out is told as parts, as a message and in the run; but every turn
 * tells the run again, so that a short task with many turns could have a log longer than the memory there is.
 */
const LOG_BODIES = 4;

/**
 * `GET /runs/{run_id}/events`: the log as it stands, one JSON document. Who takes an event stream instead is told how the run
 * stands and then what follows, to its end; `Last-Event-ID` takes a lost stream up again. No other server has that.
 */
export async function showEvents(admitted: Admitted, runId: string): Promise<HttpResponse> {
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
      if (length > most) throw new AgentError("too_large", "the log is too long for one document; take it as text/event-stream");
      log.push(text);
    }
  return jsonResponse(200, `{"events":[${log.join(",")}]}`, { "cache-control": "no-store" });
}

function followEvents({ host, request }: Admitted, call: Call, taskId: string): Promise<HttpResponse> {
  // A cursor is opaque here: its maker, the task runtime, checks it.
  const after = (request.headers["last-event-id"] || undefined) as Cursor | undefined;
  const events = new RunEvents(host, call, after === undefined ? "created" : "resumed");
  return streamResponse(followed(host, call, { taskId, after }), runForm(events, "end"), host.limits);
}
