import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { startOfficial13 } from "../peers/official-1.3.js";
import { bodyOf, type ChangeResponse, expectCaught, interceptText } from "./intercept.js";

interface Mutation {
  readonly what: string;
  readonly caught: string;
  readonly mutate: ChangeResponse;
}

/** A conforming server with one fault each. Each fault must be caught by its requirement. */
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
      bodyOf(request).includes("CancelTask")
        ? text.replaceAll(/"id":"[0-9a-f-]{36}","contextId"/g, '"id":"other","contextId"')
        : text,
  },
  {
    what: "one answer for all",
    caught: "a2a:1.0:rest:edge:parallel",
    mutate: (text) => text.replaceAll(/"messageId":"[^"]+"/g, '"messageId":"same"'),
  },
];

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

  test.each(MUTATIONS)("$what: caught by $caught", async ({ caught, mutate }) => {
    await expectCaught({ url: server.url }, { exchange: interceptText(mutate) }, [caught]);
  });
});
