import { AgentError } from "../../src/index.js";
import type { ExtraRoute } from "../../src/protocols/index.js";
import type { CapturedMessage, CapturedMessageSummary, WireBytes } from "../../src/public/inspect.js";
import { encodeSse, errorResponse, type HttpRequest, jsonResponse } from "../../src/transport/index.js";
import { STARTED_AT } from "./fake-console.js";

const wire = (head: string, body: string, part: Partial<WireBytes> = {}): WireBytes => ({
  head,
  headers: { "content-type": "application/json", "user-agent": "trip/1.0" },
  body,
  encoding: "utf8",
  bytes: body.length,
  cut: false,
  ...part,
});

export function capturedMessage(part: Partial<CapturedMessage> & { readonly id: string; readonly seq: number }): CapturedMessage {
  return {
    direction: "in",
    at: STARTED_AT + part.seq * 10,
    endedAt: STARTED_AT + part.seq * 10 + 42,
    traceId: `trace-${part.seq}`,
    span: `span-${part.id}`,
    agent: "planner",
    caller: "traveller",
    via: { protocol: "a2a", version: "1.0", binding: "JSONRPC" },
    operation: "send",
    text: "plan a trip to Athens",
    events: [],
    losses: [],
    status: "ok",
    ...part,
  };
}

/** One inbound call, and the two outbound calls it caused. */
export function storyOf(): readonly CapturedMessage[] {
  const at = STARTED_AT + 1_000;
  const envelope = {
    id: "m-1",
    source: "traveller",
    destination: "planner",
    content: { text: "plan a trip to Athens" },
    priority: 5,
    tags: ["trip"],
  };
  return [
    capturedMessage({
      id: "one",
      seq: 1,
      at,
      endedAt: at + 480,
      traceId: "trace-1",
      span: "s1",
      taskId: "task-1",
      request: wire(
        "POST /a2a",
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "SendMessage",
          params: { message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "plan a trip to Athens" }] } },
        }),
      ),
      response: wire("200", 'data: {"statusUpdate":{"state":"working"}}\n\n'),
      envelope,
      answer: { id: "m-2", content: { text: "Day one: the Acropolis" } },
      events: [
        { at: at + 40, kind: "status", state: "working", text: "looking at flights" },
        { at: at + 460, kind: "message", text: "Day one: the Acropolis" },
      ],
    }),
    capturedMessage({
      id: "two",
      seq: 2,
      direction: "out",
      at: at + 30,
      endedAt: at + 300,
      traceId: "trace-1",
      span: "s2",
      parentSpan: "s1",
      caller: "gateway",
      via: { protocol: "acp", version: "0.2", binding: "REST" },
      request: wire(
        "POST /runs",
        JSON.stringify({
          agent_name: "planner",
          input: [{ role: "user", parts: [{ content: "plan a trip to Athens", content_type: "text/plain" }] }],
        }),
      ),
      response: wire("200", JSON.stringify({ run_id: "r-1", status: "completed" })),
      envelope,
      losses: [
        { protocol: "acp", path: "message.extensions[0]", valueKind: "string", reason: "ACP has no place for extensions" },
      ],
    }),
    capturedMessage({
      id: "three",
      seq: 3,
      direction: "out",
      at: at + 310,
      endedAt: at + 450,
      traceId: "trace-1",
      span: "s3",
      parentSpan: "s2",
      agent: "translator",
      caller: "planner",
      via: { protocol: "a2a", version: "1.0", binding: "GRPC" },
      status: "failed",
      error: { code: "unavailable", message: "nobody listens there" },
      text: "translate it",
      request: wire(
        "POST /lf.a2a.v1.A2AService/SendMessage",
        Buffer.from([0, 0, 0, 0, 5, 10, 3, 0xff, 65, 66]).toString("base64"),
        { encoding: "base64", bytes: 10 },
      ),
    }),
  ];
}

/** As many messages as on a busy gateway. */
export function crowd(count: number, from = 10): readonly CapturedMessage[] {
  const agents = ["planner", "translator", "booking", "weather"] as const;
  const pins = [
    ["a2a", "1.0", "JSONRPC"],
    ["acp", "0.2", "REST"],
    ["agora", "0.1", "HTTP"],
    ["a2a", "0.3", "JSONRPC"],
  ] as const;
  return Array.from({ length: count }, (_, index) => {
    const [protocol, version, binding] = pins[index % 4] ?? pins[0];
    const failed = index % 50 === 7;
    return capturedMessage({
      id: `m${from + index}`,
      seq: from + index,
      direction: index % 3 === 0 ? "out" : "in",
      agent: agents[index % 4] ?? "planner",
      via: { protocol, version, binding },
      text: index === 1_234 ? "a needle in the hay" : `message number ${index}`,
      status: failed ? "failed" : "ok",
      ...(failed ? { error: { code: "deadline", message: "no answer in time" } as const } : {}),
    });
  });
}

export function summary({ request, response, envelope, answer, events, ...rest }: CapturedMessage): CapturedMessageSummary {
  return { ...rest, eventCount: events.length, requestBytes: request?.bytes ?? 0, responseBytes: response?.bytes ?? 0 };
}

/** The message routes that the page expects, over a list. */
export class FakeMessages {
  readonly #sightings: CapturedMessage[];
  readonly #readers = new Set<(message: CapturedMessageSummary) => void>();
  /** While false the feed is refused, as by a gateway that shuts down. */
  feeding = true;
  readonly #open = new Set<() => void>();

  constructor(messages: readonly CapturedMessage[]) {
    this.#sightings = [...messages];
  }

  add(capturedMessage: CapturedMessage): void {
    this.#sightings.push(capturedMessage);
    for (const notify of this.#readers) notify(summary(capturedMessage));
  }

  /** Ends every open feed, as a broken connection does. */
  cut(): void {
    for (const end of this.#open) end();
  }

  routes(): readonly ExtraRoute[] {
    const get = (path: string, exchange: ExtraRoute["exchange"]): ExtraRoute => ({ route: { method: "GET", path }, exchange });
    return [
      get("/koine/api/messages", (request) => jsonResponse(200, JSON.stringify(this.#list(new URLSearchParams(request.query))))),
      get("/koine/api/messages/*", (request) => this.#one(lastOf(request))),
      get("/koine/api/traces/*", (request) =>
        jsonResponse(200, JSON.stringify(this.#sightings.filter((each) => each.traceId === lastOf(request)))),
      ),
      get("/koine/api/feed", (request) =>
        this.feeding
          ? { status: 200, headers: { "content-type": "text/event-stream" }, body: this.#feed(request) }
          : errorResponse(503, new AgentError("unavailable", "going down")),
      ),
    ];
  }

  #list(query: URLSearchParams): unknown {
    const before = Number(query.get("before") ?? Number.POSITIVE_INFINITY);
    const limit = Number(query.get("limit") ?? 100);
    const found = this.#sightings.filter((each) => each.seq < before).sort((a, b) => b.seq - a.seq);
    return { messages: found.slice(0, limit).map(summary), forgotten: 0 };
  }

  #one(id: string): ReturnType<typeof jsonResponse> {
    const found = this.#sightings.find((each) => each.id === id);
    return found === undefined
      ? errorResponse(404, new AgentError("not_found", "forgotten"))
      : jsonResponse(200, JSON.stringify(found));
  }

  async *#feed(request: HttpRequest): AsyncGenerator<string, void, void> {
    const ready: CapturedMessageSummary[] = [];
    let ended = false;
    let wake = (): void => undefined;
    const end = (): void => {
      ended = true;
      wake();
    };
    const notify = (message: CapturedMessageSummary): void => {
      ready.push(message);
      wake();
    };
    this.#readers.add(notify);
    this.#open.add(end);
    request.cancel.onCancel(end);
    yield ":\n\n";
    while (!ended) {
      for (const message of ready.splice(0)) yield encodeSse(JSON.stringify(message), String(message.seq), "message");
      if (!ended && ready.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    this.#readers.delete(notify);
    this.#open.delete(end);
  }
}

const lastOf = (request: HttpRequest): string => decodeURIComponent(request.path.slice(request.path.lastIndexOf("/") + 1));
