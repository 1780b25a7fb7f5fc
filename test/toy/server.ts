import { AgentError, type AgentEvent, answerText, isPromise, type Operation, textOf } from "../../src/envelope/index.js";
import type { Host, Served } from "../../src/protocols/index.js";
import type { HttpRequest, HttpResponse } from "../../src/transport/exchange.js";
import { blame } from "../../src/transport/fields.js";
import { jsonResponse } from "../../src/transport/response.js";
import { decodeToy } from "./codec.js";
import { readToyRequest } from "./wire.js";

const VIA = { protocol: "toy", version: "1", binding: "HTTP" } as const;

export function serve(host: Host): Served {
  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (request.method === "GET") return jsonResponse(200, JSON.stringify({ toy: 1, agent: host.cards()[0]?.name }));
    try {
      const caller = await host.admit(request);
      const agent = host.cards()[0]?.name ?? "";
      const envelope = decodeToy(read(request), "user", { id: host.newId(), now: host.now(), src: caller.id, dst: agent });
      const stream = request.headers["accept"] === "application/x-toy-lines";
      const operation: Operation = { kind: "send", envelope, delivery: stream ? "stream" : "answer", task: "auto" };
      const reply = host.handler(operation, host.begin(request, { caller, agent, via: VIA }));
      if (isPromise(reply)) return jsonResponse(200, JSON.stringify({ said: textIn(await reply) }));
      return { status: 200, headers: { "content-type": "application/x-toy-lines" }, body: lines(reply) };
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return jsonResponse(400, JSON.stringify({ wrong: error.code, why: error.message }));
    }
  }
  return { exchange, interfaces: (_agent, url) => [{ protocol: "toy", version: "1", binding: "HTTP", url: `${url}/toy` }] };
}

function read(request: HttpRequest): ReturnType<typeof readToyRequest> {
  try {
    return readToyRequest(request.json());
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

function textIn(event: AgentEvent): string {
  if (event.kind === "message") return textOf(event.message.content);
  return event.kind === "task" ? answerText(event.task) : "";
}

async function* lines(events: AsyncIterable<AgentEvent>): AsyncGenerator<string, void, void> {
  for await (const event of events) yield `${JSON.stringify({ said: textIn(event) })}\n`;
}
