import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHook } from "../../conformance/hook.js";
import { httpExchange } from "../../conformance/http-exchange.js";
import { runConformance } from "../../conformance/run.js";
import { mount, type Server } from "../../src/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { requirements } from "../../src/protocols/agora/requirements.js";
import { bearerTokens } from "../../src/public/auth.js";
import type { Exchange, HttpRequest, HttpResponse } from "../../src/transport/exchange.js";
import { startAgora, weatherAgent } from "../peers/agora.js";
import { bodyOf, type ChangeResponse, expectCaught, intercept, interceptText, unchanged } from "./intercept.js";

const ALICE = "alice-token-0123456789";
const TIMEOUT_MS = 3_000;

interface Mutation {
  readonly what: string;
  /** Each of them must catch the fault. */
  readonly caught: readonly string[];
  readonly ask?: (request: HttpRequest) => HttpRequest;
  readonly answer?: ChangeResponse;
}

const withBody = (request: HttpRequest, text: string): HttpRequest => ({ ...request, body: new TextEncoder().encode(text) });
const reply = (status: number, body: string): HttpResponse => ({ status, headers: { "content-type": "application/json" }, body });
const isMessage = ({ method, path }: HttpRequest): boolean => method === "POST" && !path.startsWith("/conversations/");
const isDiscovery = ({ method, path }: HttpRequest): boolean => method === "GET" && /^\/\.?well-?known/.test(path);
const isFurther = ({ method, path }: HttpRequest): boolean => method === "POST" && path.startsWith("/conversations/");

/** A conforming server with one fault each. Each fault must be caught by its requirements. */
const MUTATIONS: readonly Mutation[] = [
  {
    what: "every error with 200",
    caught: ["error:not-200", "error:conversation-not-found-status", "input:other-type-status"],
    answer: (text, response) => (response.status >= 400 ? { ...response, status: 200, body: text } : text),
  },
  {
    what: "errors that call themselves a success",
    caught: ["conversation:over", "document:tampered", "document:no-source", "input:no-json", "error:agent-fails"],
    answer: (text, response) => (response.status >= 400 ? reply(200, text.replace('"error"', '"success"')) : text),
  },
  {
    what: "errors in HTML",
    caught: ["error:json", "input:empty", "conversation:unknown"],
    answer: (text, response) => (response.status >= 400 ? { ...response, body: "<h1>no</h1>" } : text),
  },
  {
    what: "errors without words in the body",
    caught: ["error:body-too"],
    answer: (text) => text.replace(/,"body":"Failed[^"]*"/, ""),
  },
  {
    what: "errors of another dialect",
    caught: ["error:status-error", "document:rejected"],
    answer: (text) => text.replace('"status":"error"', '"status":"failure"'),
  },
  {
    what: "faults of its own for bad input",
    caught: ["input:list", "input:body-absent", "document:broken-base64"],
    answer: (text, response) => (response.status === 400 ? { ...response, status: 500, body: text } : text),
  },
  {
    what: "a conversation for everybody",
    caught: ["natural:no-conversation", "natural:multiround-false", "natural:plain-reply", "negotiation:single-round"],
    answer: (text, _response, request) =>
      isMessage(request) && text.includes('"success"') ? text.replace("{", '{"conversationId":"c-1",') : text,
  },
  {
    what: "ids that can be guessed",
    caught: ["conversation:id"],
    answer: (text) => text.replace(/"conversationId":"[^"]+"/, '"conversationId":"1"'),
  },
  {
    what: "no id for a conversation",
    caught: ["conversation:opened", "negotiation:opened"],
    answer: (text) => text.replace(/"conversationId":"[^"]+",?/, ""),
  },
  {
    what: "another id with every answer",
    caught: ["conversation:same-id"],
    answer: (text, _response, request) => (isFurther(request) ? text.replace("{", '{"conversationId":"other",') : text),
  },
  {
    what: "DELETE without effect",
    caught: ["conversation:over", "negotiation:closed"],
    ask: (request) => (request.method === "DELETE" ? { ...request, target: `${request.target}0` } : request),
  },
  {
    what: "DELETE that knows what it deletes",
    caught: ["discovery:delete-proves-it", "conversation:delete-unknown", "conversation:delete-is-idempotent"],
    answer: once(),
  },
  {
    what: "a body that is no text",
    caught: ["natural:answered", "conversation:opened"],
    answer: (text) => text.replace(/"body":"[^"]*"/, '"body":7'),
  },
  {
    what: "a reply that is not JSON by its own words",
    caught: ["natural:json", "natural:streaming-not-faked"],
    answer: (text, response) => ({ ...response, headers: { ...response.headers, "content-type": "text/plain" }, body: text }),
  },
  {
    what: "letters out of ASCII lost",
    caught: ["natural:unicode"],
    answer: (text) => text.replaceAll(/[^\0-\x7f]/g, "?"),
  },
  {
    what: "white space trimmed",
    caught: ["natural:whitespace"],
    ask: (request) => withBody(request, bodyOf(request).replaceAll(/\\n|\\r|\\t/g, "")),
  },
  {
    what: "JSON read where text is meant",
    caught: ["natural:json-stays-text"],
    answer: (text) => text.replace('{\\"a\\": 1}', '{\\"a\\":1}'),
  },
  {
    what: "one answer for all",
    caught: ["natural:own-answer", "edge:parallel"],
    answer: (text) => text.replace(/you said: [^"]*/, "you said: yes"),
  },
  {
    what: "pieces of work lost",
    caught: ["natural:streamed-work-is-whole"],
    answer: (text) => text.replace("chunk 2 ", ""),
  },
  {
    what: "sources that must be a list",
    caught: ["natural:sources-null"],
    answer: (text, _response, request) => (bodyOf(request).includes('"protocolSources":null') ? reply(400, NO) : text),
  },
  {
    what: "any text believed",
    caught: ["document:tampered", "document:not-normalised", "document:other-data-uri"],
    answer: (text) => text.replaceAll("Failed to download protocol", "it is not suitable for execution"),
  },
  {
    what: "no text believed",
    caught: ["document:hash-of-the-exact-bytes", "document:percent-encoded", "document:base64", "document:any-source"],
    answer: (text) => text.replaceAll(/[\w+/=]+ is not suitable for execution/g, "Failed to download protocol"),
  },
  {
    what: "every document accepted",
    caught: ["document:no-source", "ssrf:other-schemes"],
    answer: (text, _response, request) => (bodyOf(request).includes('"protocolHash":"') ? reply(200, YES) : text),
  },
  {
    what: "a listed document forgotten",
    caught: ["document:listed-needs-no-source", "document:listed-is-served"],
    ask: (request) => withBody(request, bodyOf(request).replace("tT1xVLiFxhyOws187bu41HYmhWw=", "tT1xVLiFxhyOws187bu41HYmhWA=")),
  },
  {
    what: "hashes in another alphabet",
    caught: ["discovery:hashes"],
    answer: (text, _response, { path }) => (path === "/.wellknown" ? text.replaceAll("=", "") : text),
  },
  {
    what: "a list that is no map",
    caught: ["discovery:map"],
    answer: (text, _response, { path }) => (path === "/.wellknown" ? text.replaceAll(/\[("[^"]*")\]/g, "$1") : text),
  },
  {
    what: "two lists that differ",
    caught: ["discovery:lists-agree"],
    answer: (text, _response, { path }) => (path === "/wellknown" ? '{"status":"success","protocols":{}}' : text),
  },
  {
    what: "a list in another shape",
    caught: ["discovery:demo-shape"],
    answer: (text, _response, { path }) => (path === "/wellknown" ? text.replace('"protocols"', '"documents"') : text),
  },
  {
    what: "documents that cannot be had",
    caught: ["discovery:reachable"],
    answer: (text, _response, { path }) => (path === "/.wellknown" ? text.replaceAll(/\["[^"]*"\]/g, "[]") : text),
  },
  {
    what: "an unknown dialect",
    caught: ["discovery:own-names"],
    answer: (text) => text.replace('"dialect":"python"', '"dialect":"latin"'),
  },
  {
    what: "documents with another text",
    caught: ["discovery:sources-match", "discovery:document-text"],
    answer: (text, _response, { path }) => (path.startsWith("/protocols/") ? `${text}\n` : text),
  },
  {
    what: "a conversation that may change its document",
    caught: ["conversation:no-switch", "negotiation:no-switch"],
    ask: (request) => (isFurther(request) ? withBody(request, '{"body":"two"}') : request),
  },
  {
    what: "a conversation that ends with the first bad message",
    caught: ["conversation:survives-bad-input"],
    answer: dead(),
  },
  {
    what: "answers from the wrong conversation",
    caught: ["conversation:apart", "conversation:question-and-answer"],
    answer: (text) => text.replace(/the answer was: \w+/, "the answer was: something"),
  },
  {
    what: "words that end after nine rounds",
    caught: ["negotiation:ten-rounds"],
    answer: (text, _response, request) => (bodyOf(request).includes("(10)") ? reply(400, NO) : text),
  },
  {
    what: "a negotiator that accepts all",
    caught: ["negotiation:does-not-accept-all"],
    answer: (text, _response, request) =>
      bodyOf(request).includes("negotiation") ? text.replace(/"body":".*"/, '"body":"{\\"accept\\":\\"x\\"}"') : text,
  },
  {
    what: "a negotiator that names no document",
    caught: ["negotiation:offers-what-is-listed"],
    answer: (text, _response, request) =>
      bodyOf(request).includes("negotiation") ? text.replace(/"body":".*"/, '"body":"fine"') : text,
  },
  {
    what: "the inside of the program in words",
    caught: ["error:agent-throws"],
    answer: (text) => text.replaceAll("the agent failed unexpectedly", "inner secret: here it is"),
  },
  {
    what: "errors in the words of the program",
    caught: ["error:in-words"],
    answer: (text, response) => (response.status === 400 ? text.replaceAll(/body is missing[^"]*/g, "KeyError: 'body'") : text),
  },
  {
    what: "a failure reported as success",
    caught: ["error:agent-fails", "error:agent-rejects", "error:in-a-conversation"],
    answer: (text, _response, request) => (/conform: (fail|reject)/.test(bodyOf(request)) ? reply(200, YES) : text),
  },
  {
    what: "a receipt without an id",
    caught: ["receipt:at-once", "receipt:cancelled"],
    answer: (text) => text.replace(/"receipt":\{"id":"[^"]*"/, '"receipt":{"id":""'),
  },
  {
    what: "work that cannot be stopped",
    caught: ["receipt:cancelled"],
    answer: (text) => text.replaceAll('"canceled"', '"working"'),
  },
  {
    what: "work done twice",
    caught: ["receipt:idempotent"],
    ask: (request) => withBody(request, bodyOf(request).replace(/"idempotency_key":"[^"]*"/, `"later":"${crypto.randomUUID()}"`)),
  },
  {
    what: "refusals that reveal what an address serves",
    caught: ["ssrf:tells-nothing"],
    answer: (text, _response, request) =>
      text.replaceAll("is not suitable for execution", `is not suitable for execution ${bodyOf(request).length} refused`),
  },
  {
    what: "a text for a text",
    caught: ["input:other-type"],
    ask: (request) => ({ ...request, headers: { ...request.headers, "content-type": "application/json" } }),
  },
];

const NO = '{"status":"error","message":"no, not this","body":"no, not this"}';
const YES = '{"status":"success","body":"yes"}';

/** The second DELETE of one conversation, and that of an unknown one, is not found. */
function once(): ChangeResponse {
  const opened = new Set<string>();
  return (text, _response, { method, path }) => {
    const [, id] = /"conversationId":"([^"]+)"/.exec(text) ?? [];
    if (id !== undefined) opened.add(`/conversations/${id}`);
    return method === "DELETE" && !opened.delete(path) ? reply(404, NO) : text;
  };
}

/** One invalid message closes a conversation. */
function dead(): ChangeResponse {
  const closed = new Set<string>();
  return (text, response, request) => {
    if (isFurther(request) && closed.has(request.path)) return reply(404, NO);
    if (isFurther(request) && response.status >= 400) closed.add(request.path);
    return text;
  };
}

const idsOf = (keys: readonly string[]): readonly string[] => keys.map((key) => `agora:0.2:${key}`);

/** Admits requests without credentials, or with wrong ones. */
const admitting = (isOpen: (request: HttpRequest) => boolean): Exchange =>
  intercept((request) =>
    isOpen(request) ? { ...request, headers: { ...request.headers, authorization: `Bearer ${ALICE}` } } : request,
  );

/** A requirement about credentials, and a server that violates it. */
const UNGUARDED: { readonly [key: string]: Exchange } = {
  "discovery:is-public": intercept(unchanged, (response, { path, headers }) =>
    path === "/.wellknown" && headers["authorization"] === undefined ? reply(401, NO) : response,
  ),
  "auth:message": intercept(unchanged, (response) => ({ ...response, headers: { "content-type": "application/json" } })),
  "auth:wrong": admitting(({ headers }) => headers["authorization"] === "Bearer wrong"),
  "auth:negotiation": admitting((request) => bodyOf(request).includes('"negotiation"')),
  "auth:conversation": admitting(isFurther),
  "auth:delete": admitting(({ method }) => method === "DELETE"),
};
const SPEC_ONLY = ["document:rejected-exactly", "error:status-failure"];

describe("deliberately broken servers for Agora", () => {
  let server: Server;
  beforeAll(async () => {
    // Some faults leave tasks that cannot be cancelled.
    server = await startAgora({ limits: { drainMs: 100 } });
  });
  afterAll(() => server?.close());

  test.each(MUTATIONS)("$what: caught by $caught", async (mutation) => {
    const { caught, ask, answer = (text) => text } = mutation;
    await expectCaught({ url: server.url }, { exchange: interceptText(answer, ask) }, idsOf(caught));
  });

  test("no requirement is met by every server: those without a fault above fail against the simplest broken servers", {
    timeout: 60_000,
  }, async () => {
    const crude: readonly ((request: HttpRequest) => HttpResponse)[] = [
      () => reply(200, '{"status":"success","body":"yes","conversationId":"c-1"}'),
      () => reply(400, NO),
      () => ({ status: 500, headers: { "content-type": "text/html" }, body: "<h1>broken</h1>" }),
    ];
    const elsewhere = [...Object.keys(UNGUARDED), ...SPEC_ONLY, "ssrf:loopback"];
    const failed = new Set([...MUTATIONS.flatMap(({ caught }) => caught), ...elsewhere].map((key) => `agora:0.2:${key}`));
    for (const answer of crude) {
      // Discovery stays correct: otherwise everything would be skipped.
      const exchange: Exchange = (request) => (isDiscovery(request) ? httpExchange(request) : answer(request));
      const subject = { url: server.url, exchange, headers: {}, newId: () => crypto.randomUUID() };
      const { verdicts } = await runConformance(subject, [{ id: "agora", requirements: async () => requirements }], {
        timeoutMs: TIMEOUT_MS,
      });
      for (const { id, outcome } of verdicts) if (outcome === "unmet") failed.add(id);
    }
    expect(requirements.map(({ id }) => id).filter((id) => !failed.has(id))).toEqual([]);
  });

  test("a server that does not authenticate one path, or names no scheme, is caught by the requirement of that path", async () => {
    const headers = { authorization: `Bearer ${ALICE}` };
    const guarded = await startAgora({ admission: bearerTokens(new Map([["alice", ALICE]])) });
    try {
      for (const [key, exchange] of Object.entries(UNGUARDED))
        await expectCaught({ url: guarded.url, headers }, { exchange }, idsOf([key]));
    } finally {
      await guarded.close();
    }
  });

  test("a server of the specification's dialect that adds or changes members is caught", async () => {
    const spec = await startAgora({ settings: { agora: { dialect: "spec" } } });
    const exchange = interceptText((text) =>
      text.replace('"failure"', '"error"').replace('"rejected"', '"rejected","body":"no"'),
    );
    try {
      await expectCaught({ url: spec.url }, { exchange }, idsOf(SPEC_ONLY));
    } finally {
      await spec.close();
    }
  });

  test("a server that fetches any URL of an anonymous caller is caught", async () => {
    const { exchange, close } = mount(weatherAgent(), { protocols: [agora], publicUrl: "https://agent.example" });
    const fetching: Exchange = async (request) => {
      const [, source] = /"protocolSources":\["(http[^"]*)"/.exec(bodyOf(request)) ?? [];
      if (source !== undefined) await fetch(source, { method: "POST" });
      return exchange(request);
    };
    const subject = { url: "https://agent.example", exchange, openHook };
    await expectCaught(subject, { exchange: fetching }, idsOf(["ssrf:loopback"]));
    await close();
  });
});
