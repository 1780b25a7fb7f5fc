import { afterAll, beforeAll, describe, test } from "vitest";
import type { Server } from "../../src/index.js";
import type { HttpRequest, HttpResponse } from "../../src/transport/exchange.js";
import { ALICE, startGuardedKoine, startKoine } from "../peers/koine.js";
import { bodyOf, type ChangeResponse, expectCaught, intercept, interceptText } from "./intercept.js";

interface Mutation {
  readonly what: string;
  readonly caught: string;
  readonly mutate: ChangeResponse;
}

const isTo = (request: HttpRequest, method: string, path: RegExp): boolean =>
  request.method === method && path.test(request.path);
const RUN = /^\/runs\/[0-9a-f-]{36}$/;

/** A conforming server with one fault each. Each fault must be caught by its requirement. */
const MUTATIONS: readonly Mutation[] = [
  {
    what: "words in the answer to a ping",
    caught: "ping:answers",
    mutate: (text, _response, { path }) => (path === "/ping" ? '{"status":"ok"}' : text),
  },
  {
    what: "no content types in the manifest",
    caught: "agents:list",
    mutate: (text) => text.replace(/"input_content_types":\[[^\]]*\]/, '"input_content_types":[]'),
  },
  {
    what: "another agent when read alone",
    caught: "agents:read-one",
    mutate: (text, _response, request) =>
      isTo(request, "GET", /^\/agents\/conform$/) ? text.replace('"conform"', '"other"') : text,
  },
  {
    what: "200 for an agent that is not there",
    caught: "agents:unknown",
    mutate: (_text, response) => ({ ...response, status: 200 }),
  },
  {
    what: "a run that is still at work",
    caught: "runs:sync-completes",
    mutate: (text) => text.replaceAll('"completed"', '"in-progress"'),
  },
  {
    what: "run ids of its own making",
    caught: "runs:run-id",
    mutate: (text) => text.replaceAll(/"run_id":"[^"]+"/g, '"run_id":"run-1"'),
  },
  { what: "times with an offset", caught: "runs:finished-at", mutate: (text) => text.replaceAll(/(\.\d{3})Z"/g, '$1+00:00"') },
  {
    what: "no header that names the run",
    caught: "runs:run-id-header",
    mutate: (_text, response) => ({ headers: without(response, "run-id") }),
  },
  {
    what: "roles without the agent's name",
    caught: "runs:output-role",
    mutate: (text) => text.replaceAll('"agent/conform"', '"agent"'),
  },
  {
    what: "a role of another protocol",
    caught: "runs:sync-completes",
    mutate: (text) => text.replaceAll('"agent/conform"', '"assistant"'),
  },
  {
    what: "an HTTP error where the work failed",
    caught: "runs:failed",
    mutate: (text, response) => (text.includes('"failed"') ? { ...response, status: 500 } : text),
  },
  {
    what: "a content type demanded",
    caught: "runs:no-content-type",
    mutate: (text, response, { headers, method }) =>
      method === "POST" && headers["content-type"] === undefined
        ? { ...response, status: 422, body: refusal("invalid_input") }
        : text,
  },
  {
    what: "bytes that are not marked as such",
    caught: "parts:bytes-kept",
    mutate: (text) => text.replaceAll('"base64"', '"plain"'),
  },
  {
    what: "metadata of an unknown kind",
    caught: "parts:citation-kept",
    mutate: (text) => text.replaceAll('"kind":"citation"', '"kind":"quote"'),
  },
  {
    what: "200 where a run was only accepted",
    caught: "runs:async-accepted",
    mutate: (_text, response) => ({ ...response, status: 200 }),
  },
  {
    what: "another time at each reading",
    caught: "runs:created-at",
    mutate: (text, _response, request) =>
      isTo(request, "GET", RUN) ? text.replace(/(.*"created_at":")20/s, (_all, before) => `${before}19`) : text,
  },
  {
    what: "a log without its beginning",
    caught: "events:log",
    mutate: (text, _response, { path }) => (path.endsWith("/events") ? text.replace("run.created", "run.in-progress") : text),
  },
  {
    what: "a cancellation that changes nothing",
    caught: "cancel:accepted",
    mutate: (text, response, { path }) =>
      path.endsWith("/cancel") ? { ...response, body: text.replace('"cancelling"', '"in-progress"') } : text,
  },
  {
    what: "a stream without its first event",
    caught: "stream:begins",
    mutate: (text) => text.replace(/^(id: .*\n)?data: .*\n\n/, ""),
  },
  {
    what: "a stream cut before its end",
    caught: "stream:ends",
    mutate: (text) => text.replace(/(id: .*\n)?data: [^\n]*\n\n$/, ""),
  },
  { what: "a stream that ends inside an event", caught: "stream:framing", mutate: (text) => text.replace(/\n\n$/, "") },
  {
    what: "events with names",
    caught: "stream:no-event-names",
    mutate: (text) => text.replaceAll("data: ", "event: run\ndata: "),
  },
  {
    what: "pieces out of order",
    caught: "stream:chunks",
    mutate: (text) => text.replace('"chunk 1 "', '"chunk 9 "').replace('"chunk 2 "', '"chunk 1 "'),
  },
  {
    what: "parts outside of their message",
    caught: "stream:message-brackets",
    mutate: (text) => text.replace(/(id: .*\n)?data: {"type":"message.created".*\n\n/, ""),
  },
  {
    what: "an output that is not what was streamed",
    caught: "stream:output-agrees",
    mutate: (text) => text.replace(/("type":"run.completed".*)chunk 2/, "$1chunk 7"),
  },
  {
    what: "a question that is not reported",
    caught: "await:question",
    mutate: (text) => text.replace(/"await_request":\{/, '"asked":{'),
  },
  {
    what: "a finished run taken up again",
    caught: "resume:finished",
    mutate: (text, response, request) =>
      isTo(request, "POST", RUN) && response.status === 403 ? { ...response, status: 202 } : text,
  },
  {
    what: "another session than was asked for",
    caught: "session:kept",
    mutate: (text) => text.replaceAll(/"session_id":"[^"]+"/g, '"session_id":"6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11"'),
  },
  {
    what: "a history that is empty",
    caught: "session:history",
    mutate: (text) => text.replace(/"history":\[[^\]]*\]/, '"history":[]'),
  },
  {
    what: "history of another server is dropped",
    caught: "session:history-brought",
    mutate: (text) => text.replace('"https://elsewhere.example/resources/1",', ""),
  },
  {
    what: "two sessions taken for one",
    caught: "session:mismatch",
    mutate: (text, response) => (response.status === 400 ? { ...response, status: 200 } : text),
  },
  {
    what: "an unknown error code",
    caught: "error:shape",
    mutate: (text) => text.replaceAll('"code":"not_found"', '"code":"gone"'),
  },
  {
    what: "HTML for what is not there",
    caught: "runs:read-unknown",
    mutate: (_text, response) => (response.status === 404 ? "<h1>no</h1>" : _text),
  },
  {
    what: "a bad body taken",
    caught: "validation:input-text",
    mutate: (text, response, request) => (bodyOf(request).includes('"input":"hello"') ? { ...response, status: 200 } : text),
  },
  {
    what: "a fault of the server for a bad body",
    caught: "validation:body-not-json",
    mutate: (text, response, request) => (bodyOf(request) === "{hello" ? { ...response, status: 500 } : text),
  },
  {
    what: "a form from a web page taken",
    caught: "edge:content-type",
    mutate: (text, response, { headers }) => (headers["content-type"] === "text/plain" ? { ...response, status: 200 } : text),
  },
  {
    what: "inner words",
    caught: "error:agent-throws",
    mutate: (text) => text.replace('"error":{', '"error":{"why":"inner secret",'),
  },
  {
    what: "one run for all",
    caught: "edge:parallel",
    mutate: (text) => text.replaceAll(/"run_id":"[^"]+"/g, '"run_id":"6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11"'),
  },
  {
    what: "no correlation",
    caught: "plain:message:correlation",
    mutate: (text) => text.replace(/"correlation_id":"[^"]+"/, '"correlation_id":"x"'),
  },
  {
    what: "milliseconds",
    caught: "plain:status",
    mutate: (text) => text.replace(/"timestamp":([\d.]+)/, (_all, at) => `"timestamp":${Number(at) * 1000}`),
  },
  {
    what: "no words of its own for a refusal",
    caught: "plain:job:unknown",
    mutate: (text) => text.replace(/"E_[A-Z]+"/, '"oops"'),
  },
  {
    what: "a failure that passes for success",
    caught: "plain:failed",
    mutate: (text) => text.replace('"status":"failed"', '"status":"completed"'),
  },
  {
    what: "a stream without its last word",
    caught: "plain:stream:asked-for",
    mutate: (text) => text.replaceAll('"type":"status"', '"type":"text"'),
  },
];

const refusal = (code: string): string => JSON.stringify({ code, message: "no" });

function without({ headers }: HttpResponse, name: string): HttpResponse["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([each]) => each.toLowerCase() !== name));
}

describe("deliberately broken servers of BeeAI ACP", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startKoine();
  });
  afterAll(() => server?.close());

  test.each(MUTATIONS)("$what: caught by $caught", async ({ caught, mutate }) => {
    await expectCaught({ url: server.url }, { exchange: interceptText(mutate) }, [`acp:0.2:${caught}`]);
  });
});

describe("a server of BeeAI ACP that admits anonymous callers", () => {
  test.each(["auth:missing", "auth:wrong", "auth:every-address", "session:guarded", "plain:auth:missing"])(
    "caught by %s",
    async (key) => {
      const server = await startGuardedKoine();
      const headers = { authorization: `Bearer ${ALICE}` };
      // The first refusal stays, so that credentials make a difference; later requests are admitted.
      let refused = 0;
      const exchange = intercept((request) => {
        const isAnonymous =
          request.headers["authorization"] !== headers.authorization &&
          !/^\/(ping|agents|acp\/(status|capabilities))/.test(request.path);
        if (!isAnonymous || refused++ === 0) return request;
        return { ...request, headers: { ...request.headers, ...headers } };
      });
      try {
        await expectCaught({ url: server.url, headers }, { exchange }, [`acp:0.2:${key}`]);
      } finally {
        await server.close();
      }
    },
  );
});
