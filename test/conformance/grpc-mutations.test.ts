import { afterAll, beforeAll, describe, test } from "vitest";
import type { Server } from "../../src/index.js";
import type { HttpRequest, HttpResponse } from "../../src/transport/exchange.js";
import { startKoine } from "../peers/koine.js";
import { expectCaught, intercept, unchanged, type WholeResponse } from "./intercept.js";

interface Mutation {
  readonly what: string;
  readonly caught: string;
  ask?(request: HttpRequest): HttpRequest;
  answer?(response: WholeResponse, request: HttpRequest): HttpResponse;
}

const isGrpc = ({ headers }: HttpRequest): boolean => headers["te"] === "trailers";
const PREFIX_BYTES = 5;

/** The details of a failed call with one word replaced by another of the same length. */
function detailsWith(headers: HttpResponse["headers"], from: string, to: string): HttpResponse["headers"] {
  const bin = headers["grpc-status-details-bin"];
  if (bin === undefined) return headers;
  const bytes = Buffer.from(Buffer.from(bin, "base64").toString("latin1").replaceAll(from, to), "latin1");
  return { ...headers, "grpc-status-details-bin": bytes.toString("base64") };
}

/** The frames of a body, prefix included. */
function framesOf(body: Buffer): readonly Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = at + PREFIX_BYTES + body.readUInt32BE(at + 1);
    frames.push(body.subarray(at, end));
    at = end;
  }
  return frames;
}

const withHeaders = (request: HttpRequest, headers: HttpRequest["headers"]): HttpRequest => ({ ...request, headers });

const MUTATIONS: readonly Mutation[] = [
  { what: "no trailers", caught: "grpc:answer", answer: (response) => ({ ...response, trailers: () => ({}) }) },
  {
    what: "another media type",
    caught: "grpc:answer",
    answer: (response) => ({ ...response, headers: { ...response.headers, "content-type": "application/octet-stream" } }),
  },
  {
    what: "a stream without a status",
    caught: "grpc:stream-answer",
    answer: (response) => ({ ...response, trailers: () => ({}) }),
  },
  {
    what: "the answer twice",
    caught: "send:shape",
    answer: (response) => ({ ...response, body: Buffer.concat([response.body, response.body]) }),
  },
  {
    what: "half an answer",
    caught: "send:shape",
    answer: (response) => ({ ...response, body: response.body.subarray(0, -1) }),
  },
  {
    what: "another domain",
    caught: "error:info",
    answer: (response) => ({ ...response, headers: detailsWith(response.headers, "a2a-protocol.org", "b2b-protocol.org") }),
  },
  {
    what: "another reason",
    caught: "get-task:unknown",
    answer: (response) => ({ ...response, headers: detailsWith(response.headers, "TASK_NOT_FOUND", "BULB_NOT_FOUND") }),
  },
  {
    what: "a status that its details contradict",
    caught: "grpc:details-agree",
    answer: (response) => ({ ...response, headers: { ...response.headers, "grpc-status": "3" } }),
  },
  {
    what: "a status only gRPC has",
    caught: "get-task:unknown",
    answer: (response) => ({ ...response, headers: { ...response.headers, "grpc-status": "13" } }),
  },
  {
    what: "an error beside a message",
    caught: "grpc:error-without-message",
    answer: (response) => ({ ...response, body: Buffer.alloc(PREFIX_BYTES) }),
  },
  {
    what: "a status that waits for the trailers",
    caught: "grpc:trailers-only",
    answer({ headers, ...response }) {
      const { "grpc-status": status = "0", ...rest } = headers;
      return { ...response, headers: rest, trailers: () => ({ "grpc-status": status }) };
    },
  },
  {
    what: "a stream that lost its end",
    caught: "stream:ends",
    answer: (response) => ({ ...response, body: Buffer.concat(framesOf(response.body).slice(0, -1)) }),
  },
  {
    what: "a stream that lost its beginning",
    caught: "stream:first",
    answer: (response) => ({ ...response, body: Buffer.concat(framesOf(response.body).slice(1)) }),
  },
  {
    what: "a procedure for every name",
    caught: "grpc:unknown-method",
    ask: (request) => ({ ...request, target: request.target.replace("NoSuchProcedure", "SendMessage") }),
  },
  {
    what: "a service for every name",
    caught: "grpc:unknown-service",
    ask: (request) => ({
      ...request,
      target: request.target.replace("no.such.Service/Call", "lf.a2a.v1.A2AService/SendMessage"),
    }),
  },
  {
    what: "an answer to every media type",
    caught: "grpc:wrong-media-type",
    ask: (request) => withHeaders(request, { ...request.headers, "content-type": "application/grpc" }),
  },
  {
    what: "the first of two messages",
    caught: "grpc:two-messages",
    ask: (request) => ({ ...request, body: framesOf(Buffer.from(request.body))[0] ?? request.body }),
  },
  { what: "no look at the compressed flag", caught: "grpc:compressed-flag", ask: plainFlag },
  { what: "no look at the encoding", caught: "grpc:unknown-encoding", ask: plainFlag },
  {
    what: "no deadline",
    caught: "grpc:deadline",
    ask: ({ headers: { "grpc-timeout": _, ...headers }, ...request }) => ({ ...request, headers }) as HttpRequest, // all but that header
  },
  {
    what: "no look at the time",
    caught: "grpc:bad-timeout",
    ask: ({ headers: { "grpc-timeout": _, ...headers }, ...request }) => ({ ...request, headers }) as HttpRequest, // all but that header
  },
];

const same = (response: WholeResponse): HttpResponse => response;

function plainFlag(request: HttpRequest): HttpRequest {
  const body = Buffer.from(request.body);
  if (body.length > 0) body[0] = 0;
  return { ...request, body };
}

describe("deliberately broken gRPC servers", () => {
  let server: Server;
  beforeAll(async () => {
    // A fault may leave a task that never ends.
    server = await startKoine({ limits: { drainMs: 100 } });
  });
  afterAll(() => server.close());

  test.each(MUTATIONS)("$what: caught by $caught", async ({ caught, ask = unchanged, answer = same }) => {
    const exchange = intercept(
      (request) => (isGrpc(request) ? ask(request) : request),
      (response, request) => (isGrpc(request) ? answer(response, request) : response),
    );
    await expectCaught({ url: server.url }, { exchange }, [`a2a:1.0:grpc:${caught}`]);
  });

  test("a different error over gRPC than over the other bindings is caught by the comparison", async () => {
    const exchange = intercept(unchanged, (response, request) =>
      isGrpc(request)
        ? { ...response, headers: { ...response.headers, "grpc-status": "7", "grpc-status-details-bin": undefined } }
        : response,
    );
    await expectCaught({ url: server.url }, { exchange }, ["a2a:1.0:equivalence:unknown-task"]);
  });
});
