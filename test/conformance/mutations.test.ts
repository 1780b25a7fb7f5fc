import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { runConformance } from "../../conformance/run.js";
import { requirements } from "../../src/protocols/a2a/requirements.js";
import { type Exchange, type HttpRequest, type HttpResponse, isStream } from "../../src/transport/exchange.js";
import { startOfficial13 } from "../peers/official-1.3.js";

interface Mutation {
  readonly what: string;
  readonly caught: string;
  mutate(text: string, response: HttpResponse, request: HttpRequest): string | HttpResponse;
}

/** A good server with one fault each. Every fault must be seen by the requirement that is there for it. */
const MUTATIONS: readonly Mutation[] = [
  { what: "another id", caught: "a2a:1.0:jsonrpc:rpc:id-number", mutate: (text) => text.replace('"id":41', '"id":42') },
  {
    what: "result and error at once",
    caught: "a2a:1.0:jsonrpc:send:shape",
    mutate: (text) => text.replace('"result":', '"error":{"code":1,"message":"x"},"result":'),
  },
  {
    what: "no ErrorInfo",
    caught: "a2a:1.0:rest:error:info",
    mutate: (text) => text.replaceAll("google.rpc.ErrorInfo", "google.rpc.Help"),
  },
  {
    what: "another domain",
    caught: "a2a:1.0:jsonrpc:error:info",
    mutate: (text) => text.replaceAll('"a2a-protocol.org"', '"example.org"'),
  },
  {
    what: "states in lower case",
    caught: "a2a:1.0:rest:send:state-name",
    mutate: (text) => text.replaceAll("TASK_STATE_COMPLETED", "completed"),
  },
  {
    what: "local times",
    caught: "a2a:1.0:rest:send:timestamp",
    mutate: (text) => text.replaceAll(/(:\d\d\.\d{3})Z/g, "$1+02:00"),
  },
  {
    what: "no first task on a stream",
    caught: "a2a:1.0:jsonrpc:stream:first",
    mutate: (text) => text.replace(/^data: .*\n\n/, ""),
  },
  {
    what: "a stream cut before its end",
    caught: "a2a:1.0:rest:stream:ends",
    mutate: (text) => text.replace(/data: [^\n]*\n\n$/, ""),
  },
  {
    what: "chunks out of order",
    caught: "a2a:1.0:rest:stream:chunks",
    mutate: (text) => text.replace("chunk 1", "chunk 9").replace("chunk 2", "chunk 1"),
  },
  {
    what: "a stream that ends inside an event",
    caught: "a2a:1.0:jsonrpc:stream:framing",
    mutate: (text) => text.replace(/\n\n$/, ""),
  },
  {
    what: "no nextPageToken on the last page",
    caught: "a2a:1.0:rest:list:members",
    mutate: (text) => text.replace(/,?"nextPageToken":""/, ""),
  },
  {
    what: "artifacts in every list",
    caught: "a2a:1.0:jsonrpc:list:no-artifacts",
    mutate: (text) => text.replaceAll('"contextId":', '"artifacts":[],"contextId":'),
  },
  { what: "a card without a version", caught: "a2a:card:strings", mutate: (text) => text.replace('"version":"1.0.0",', "") },
  {
    what: "a card with relative addresses",
    caught: "a2a:card:absolute-urls",
    mutate: (text) => text.replaceAll(/"url":"http:\/\/[^/"]+\//g, '"url":"/'),
  },
  {
    what: "HTML for an unknown task",
    caught: "a2a:1.0:rest:error:status-body",
    mutate: (text, response) => (response.status === 404 ? "<h1>no</h1>" : text),
  },
  {
    what: "200 for everything",
    caught: "a2a:1.0:rest:get-task:unknown",
    mutate: (text, response) => ({ ...response, status: 200, body: text }),
  },
  {
    what: "another task on cancel",
    caught: "a2a:1.0:jsonrpc:cancel:running",
    mutate: (text, _response, request) =>
      body(request).includes("CancelTask")
        ? text.replaceAll(/"id":"[0-9a-f-]{36}","contextId"/g, '"id":"other","contextId"')
        : text,
  },
  {
    what: "one answer for all",
    caught: "a2a:1.0:rest:edge:parallel",
    mutate: (text) => text.replaceAll(/"messageId":"[^"]+"/g, '"messageId":"same"'),
  },
];

const body = (request: HttpRequest): string => new TextDecoder().decode(request.body);

function mutated({ mutate }: Mutation): Exchange {
  return async (request) => {
    const response = await httpExchange(request);
    if (!isStream(response.body)) return response;
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    const changed = mutate(Buffer.concat(chunks).toString("utf8"), response, request);
    return typeof changed === "string" ? { ...response, body: changed } : changed;
  };
}

describe("deliberately broken servers", () => {
  let server: Awaited<ReturnType<typeof startOfficial13>>;
  beforeAll(async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    server = await startOfficial13();
  });
  afterAll(async () => {
    await server.close();
    vi.restoreAllMocks();
  });

  async function outcomeOf(exchange: Exchange, id: string): Promise<string | undefined> {
    const subject = { url: server.url, exchange, headers: {}, newId: () => crypto.randomUUID() };
    const { verdicts } = await runConformance(subject, [{ id: "a2a", requirements: async () => requirements }], {
      only: [id],
      timeoutMs: 5_000,
    });
    return verdicts.find((verdict) => verdict.id === id)?.outcome;
  }

  for (const mutation of MUTATIONS)
    test(`${mutation.what}: caught by ${mutation.caught}`, async () => {
      expect(await outcomeOf(httpExchange, mutation.caught)).toBe("met");
      expect(await outcomeOf(mutated(mutation), mutation.caught)).toBe("unmet");
    });
});
