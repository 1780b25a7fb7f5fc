import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newEnvelope, type Operation, type OperationKind, startCall } from "../src/envelope/index.js";
import { agent, createMemoryArtifacts, type Server, serve } from "../src/index.js";
import { createClientContext } from "../src/protocols/client-context.js";
import type { Peer, Protocol, Route } from "../src/protocols/protocol.js";
import { bearerTokens } from "../src/public/auth.js";
import { protocols } from "../src/public/protocols.js";
import { createMetrics, createTelemetry } from "../src/public/telemetry.js";
import { wholeBody } from "../src/transport/body.js";
import type { HttpHeaders, HttpRequest, Link } from "../src/transport/exchange.js";
import { poolLink } from "../src/transport/node/index.js";
import { makeRequest } from "../src/transport/request.js";
import { openProtocols } from "./helpers/open-protocols.js";

/**
 * Anonymous requests in every protocol: none reaches an agent, and only public documents are served. The requests are derived
 * from the declarations and clients of the registered protocols, so a new protocol, binding, route or operation is covered.
 */

const TOKEN = "token-of-ann-0123456789";
const SECRET_WORDS = "what only callers we know may read";
const SOME_ID = "6a0d6f0e-9a55-4d0c-8f0a-5f0e2b1c7d11";
const DOCUMENT = "---\nname: Hello\ndescription: says hello\nmultiround: false\n---\nSay hello.";
const DOCUMENT_HASH = createHash("sha1").update(DOCUMENT).digest("base64");
/** Public addresses, with examples and the reason. Every other address refuses anonymous callers. */
const PUBLIC: readonly { readonly path: RegExp; readonly at: readonly string[]; readonly because: string }[] = [
  { path: /^\/(health|livez|readyz)$/, at: ["/health", "/livez", "/readyz"], because: "health checks have no credentials" },
  {
    path: /^(\/a2a\/other)?\/\.well-known\/agent(-card)?\.json$/,
    at: ["/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a/other/.well-known/agent-card.json"],
    because: "a card describes how to authenticate",
  },
  { path: /^\/v1\/did\/one$/, at: [], because: "a DID document; there is none unless the old session of ANP is on" },
  { path: /^\/ping$/, at: ["/ping"], because: "it only reports that the server runs" },
  { path: /^\/agents(\/(one|other))?$/, at: ["/agents", "/agents/one", "/agents/other"], because: "a manifest is a card" },
  { path: /^\/\.well-known\/agent\.yml$/, at: ["/.well-known/agent.yml"], because: "the same, for readers of YAML" },
  {
    path: /^\/acp\/(capabilities|status)$/,
    at: ["/acp/capabilities", "/acp/status"],
    because: "a card and a health check in the plain form; a run requires its id and credentials",
  },
  {
    path: /^(\/agora(\/other)?)?\/(\.well-known\/agora|\.wellknown|wellknown)$/,
    at: ["", "/agora", "/agora/other"].flatMap((base) => [
      `${base}/.well-known/agora`,
      `${base}/.wellknown`,
      `${base}/wellknown`,
    ]),
    because: "which protocol documents are followed is a card",
  },
  {
    path: /^(\/agora(\/other)?)?\/protocols\/.+$/,
    at: [`/protocols/${encodeURIComponent(DOCUMENT_HASH)}`, `/agora/protocols/${encodeURIComponent(DOCUMENT_HASH)}`],
    because: "the text of a published hash",
  },
];
const isPublic = (path: string): boolean => PUBLIC.some((each) => each.path.test(path));
const ids = { now: Date.now, newId: () => crypto.randomUUID() };
const SOMEBODY: HttpHeaders = { authorization: `Bearer ${TOKEN}` };
const ANONYMOUS: readonly HttpHeaders[] = [
  {},
  { authorization: "Bearer nobody-knows-this-token" },
  { authorization: "Basic YW5uOmFubg==" },
  { authorization: TOKEN },
  { authorization: "Bearer " },
  { "x-api-key": TOKEN, cookie: `token=${TOKEN}`, "x-forwarded-for": "127.0.0.1", "x-forwarded-client-cert": "Subject=ann" },
];

const PUSH = { taskId: "x", id: "p", url: "https://hooks.example/" };
const envelope = newEnvelope({ src: "ann", dst: "one", content: "hello", context: {} }, ids);
/** Some operations of each kind; a new kind is a compile error here. */
const OPERATIONS: { readonly [K in OperationKind]: readonly Extract<Operation, { readonly kind: K }>[] } = {
  send: (["answer", "accepted", "stream"] as const).map((delivery) => ({ kind: "send", envelope, delivery, task: "auto" })),
  "task.get": [{ kind: "task.get", taskId: "x" }],
  "task.list": [{ kind: "task.list" }],
  "task.cancel": [{ kind: "task.cancel", taskId: "x" }],
  "task.subscribe": [{ kind: "task.subscribe", taskId: "x", follow: true }],
  "push.set": [{ kind: "push.set", config: PUSH }],
  "push.get": [{ kind: "push.get", taskId: "x", id: "p" }],
  "push.delete": [{ kind: "push.delete", taskId: "x", id: "p" }],
  "push.list": [{ kind: "push.list", taskId: "x" }],
  "session.close": [{ kind: "session.close", sessionId: "x" }],
  card: [{ kind: "card", extended: true }],
  ping: [{ kind: "ping" }],
};

const reached: OperationKind[] = [];
let server: Server;
let link: Link;
/** The requests that the clients of all protocols write, for both agents. */
const written: HttpRequest[] = [];
beforeAll(async () => {
  const agents = ["one", "other"].map((name) =>
    agent({
      name,
      description: "answers",
      handle: async () => SECRET_WORDS,
      skills: [
        {
          id: "hello",
          name: "Hello",
          description: "says hello",
          tags: ["hello"],
          document: DOCUMENT,
          handle: () => SECRET_WORDS,
        },
      ],
      extendedCard: () => ({ description: SECRET_WORDS }),
    }),
  );
  server = await serve(agents, {
    admission: bearerTokens(new Map([["ann", TOKEN]])),
    artifacts: { store: createMemoryArtifacts(ids) },
    metrics: "admitted",
    telemetry: createTelemetry({ metrics: createMetrics() }),
    layers: [
      (next) => (operation, call) => {
        reached.push(operation.kind);
        return next(operation, call);
      },
    ],
  });
  link = poolLink();
  for (const protocol of protocols) {
    for (const peer of await peersOf(protocol)) await writeAll(protocol, peer);
  }
  reached.length = 0;
});
afterAll(async () => {
  await link?.close();
  await server?.close();
});

/** Every interface that the protocol discovers for either agent. */
async function peersOf(protocol: Protocol): Promise<readonly Peer[]> {
  const knowing: Link = { ...link, exchange: (request) => link.exchange(as(SOMEBODY, request)), close: async () => undefined };
  const findings = await Promise.all(
    ["", "/a2a/other", "/agents/other", "/agora/other"].map((path) =>
      protocol.discover(createClientContext({ link: knowing, ids }), server.url + path, startCall()),
    ),
  );
  return findings.flatMap((finding) => finding?.peers ?? []);
}

/** Writes every operation with the protocol's own client; the link never answers. */
async function writeAll(protocol: Protocol, peer: Peer): Promise<void> {
  const taking: Link = {
    exchange(request) {
      written.push(request);
      return { status: 503, headers: {}, body: "" };
    },
    close: async () => undefined,
  };
  const { handler } = protocol.connect({ ...createClientContext({ link: taking, ids }), peer });
  for (const operation of Object.values(OPERATIONS).flat()) {
    const ask = async (): Promise<unknown> => {
      const reply = handler(operation, startCall());
      return reply instanceof Promise ? reply : reply[Symbol.asyncIterator]().next();
    };
    await ask().catch(() => undefined);
  }
}

function as(caller: HttpHeaders, { method, target, headers, body }: HttpRequest): HttpRequest {
  return makeRequest({ method, url: target, headers: { ...headers, ...caller }, body });
}

interface Answer {
  readonly kind: "refused" | "reached" | "answered";
  readonly text: string;
}

async function answerTo(request: HttpRequest): Promise<Answer> {
  const before = reached.length;
  const { status, headers, body } = await link.exchange(request);
  const text = Buffer.from(await wholeBody(body, 1_000_000)).toString();
  if (reached.length > before) return { kind: "reached", text };
  const refused = status === 401 || status === 403 || ["16", "7"].includes(headers["grpc-status"] ?? "");
  const stable = text.replace(/"timestamp":[\d.]+/, '"timestamp":0');
  return { kind: refused ? "refused" : "answered", text: `${status} ${headers["grpc-status"] ?? ""} ${stable}` };
}

const label = ({ method, path, headers, body }: HttpRequest): string =>
  `${method} ${path} ${headers["content-type"] ?? ""} ${/"method":"[^"]*"/.exec(Buffer.from(body).toString())?.[0] ?? ""}`;

/** Checks one request. Returns whether an authenticated caller got further with it than an anonymous one. */
async function expectClosed(request: HttpRequest, anonymousCallers = ANONYMOUS): Promise<boolean> {
  const known = await answerTo(as(SOMEBODY, request));
  let further = known.kind === "reached";
  for (const anonymous of anonymousCallers) {
    const answer = await answerTo(as(anonymous, request));
    expect(leakIn(answer, known, request), label(request)).toBe("none");
    further ||= known.kind === "answered" && answer.kind === "refused";
  }
  return further;
}

type Answered = Awaited<ReturnType<typeof answerTo>>;

/** What is wrong with the response to an anonymous caller, given that to an authenticated one. */
function leakIn({ kind, text }: Answered, known: Answered, { path }: HttpRequest): string {
  if (text.includes(SECRET_WORDS)) return "it shows the agent's words";
  if (kind === "refused") return "none";
  if (known.kind === "reached" || kind !== "answered") return `it was ${kind}`;
  // A response without credentials is the same for every caller, and succeeds only for public documents.
  if (text !== known.text) return `it differs: ${text} and ${known.text}`;
  const succeeded = /^2\d\d/.test(text) && !text.startsWith("200 12 ");
  if (succeeded) return isPublic(path) ? "none" : "it succeeded, and is not public";
  return /^(4\d\d|200 12) /.test(text) ? "none" : `it is no refusal: ${text}`;
}

describe("without credentials", () => {
  test("no request of our clients reaches an agent", async () => {
    const through = new Map<string, number>();
    for (const request of written) {
      if (await expectClosed(request)) through.set(request.path, (through.get(request.path) ?? 0) + 1);
    }
    // The requests are valid: an authenticated caller reaches the agent with them.
    expect([...through.values()].reduce((sum, each) => sum + each, 0)).toBeGreaterThan(written.length * 0.8);
  });

  test("no request to any route by any method reaches an agent", { timeout: 120_000 }, async () => {
    // Sessions are refused before they are opened: see the tests of each protocol that has them.
    const routes = protocols.flatMap((protocol) => protocol.routes).filter(({ upgrade }) => upgrade === undefined);
    const leading = new Set<Route>();
    for (const route of routes) {
      for (const request of requestsAt(route)) {
        const through = await expectClosed(request, ANONYMOUS.slice(0, 2));
        if (through && matches(route, request)) leading.add(route);
      }
    }
    // The requests are valid here too: every route except public documents, and those between identities, reaches an agent.
    const open = new Set(openProtocols.flatMap((protocol) => protocol.routes));
    const silent = routes.filter(
      (route) => open.has(route) && !leading.has(route) && !isPublic(route.path.replace(/\*$/, "one")),
    );
    expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("public documents are served, and the health address does not show runs", async () => {
    for (const { path, at } of PUBLIC) {
      for (const address of at) {
        const { kind, text } = await answerTo(makeRequest({ method: "GET", url: `${server.url}${address}` }));
        expect([address, kind, text.slice(0, 3), path.test(address)]).toEqual([address, "answered", "200", true]);
      }
    }
    for (const name of ["run_id", "job_id"]) {
      const asked = makeRequest({ method: "GET", url: `${server.url}/acp/status?${name}=${SOME_ID}` });
      expect(await expectClosed(asked)).toBe(true);
    }
  });

  test("no request to a shared route reaches an agent", async () => {
    for (const path of [
      "/metrics",
      "/artifacts/x",
      "/artifacts/x?expires=9999999999999&owner=x&sig=y",
      "/health",
      "/readyz",
      "/",
      "/x",
    ])
      for (const method of METHODS) await expectClosed(makeRequest({ method, url: `${server.url}${path}` }));
  });
});

const MESSAGE = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
const JSON_TYPE = { "content-type": "application/json" };
/** A send in each of our formats. */
const BODIES = [
  {
    headers: JSON_TYPE,
    body: JSON.stringify({ jsonrpc: "2.0", id: "q", method: "SendMessage", params: { message: MESSAGE }, message: MESSAGE }),
  },
  { headers: JSON_TYPE, body: JSON.stringify({ agent_name: "one", input: [{ role: "user", parts: [{ content: "hello" }] }] }) },
  { headers: JSON_TYPE, body: JSON.stringify({ protocolHash: null, body: "hello" }) },
  { headers: JSON_TYPE, body: JSON.stringify({ payload: { text: "hello" } }) },
  { headers: { "content-type": "application/grpc+proto" }, body: new Uint8Array(5) },
  {},
];
/** The method of gRPC server reflection. Our clients do not call it. */
const REFLECTION = "ServerReflectionInfo";
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

function matches({ method, path, when }: Route, request: HttpRequest): boolean {
  const there = path.endsWith("/*") ? request.path.startsWith(path.slice(0, -1)) : request.path === path;
  return there && (method === "*" || method === request.method) && (when === undefined || when(request));
}

/** A declared route: the requests of our clients to it, and all its paths by all its methods. */
function requestsAt(route: Route): readonly HttpRequest[] {
  const { method, path } = route;
  const prefix = path.slice(0, -1);
  const ours = written.filter((each) => matches(route, each));
  const tails = ["", "x", "x/y", "x/y/z", SOME_ID, `${SOME_ID}/events`, `${SOME_ID}/cancel`, `${SOME_ID}.0`, REFLECTION].map(
    (tail) => `${prefix}${tail}`,
  );
  const paths = path.endsWith("/*") ? new Set([...tails, ...ours.map((each) => each.path)]) : [path];
  const methods = method === "*" ? METHODS : [method];
  const made = [...paths].flatMap((at) =>
    methods.flatMap((by) => {
      const bodies = by === "POST" ? BODIES : [{}];
      return bodies.map((carried) => makeRequest({ method: by, url: `${server.url}${at}`, ...carried }));
    }),
  );
  return [...ours, ...made];
}
