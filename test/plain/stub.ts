import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Peers that speak only the plain protocols of the seeds (G.2, G.3, G.7), written after the seeds and their reference code
 * (`ulab-uiuc/AgentProtocols`), with nothing of Koine. Where the seeds say "should", the stub does: it deduplicates by `id` and
 * `idempotency_key`, replays after `Last-Event-ID`, and refuses versions outside `min_version` and `max_version`.
 */
export interface Stub {
  readonly url: string;
  /** The bodies of all messages, in order of arrival. */
  readonly received: Tree[];
  /** The headers of all messages. */
  readonly headers: IncomingMessage["headers"][];
  /** The texts the agent worked on: a repeated message is not in it twice. */
  readonly worked: string[];
  /** Requests other than messages: method and path. */
  readonly others: string[];
  close(): Promise<void>;
}

export interface Tree {
  readonly [name: string]: unknown;
}

/** The version on the cards of the reference agents. */
const VERSION = [1, 0, 0];

export function at(tree: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === "object" && value !== null ? (value as Tree)[name] : undefined),
    tree,
  );
}

interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Tree;
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Answer = (request: Request, response: ServerResponse, stub: Omit<Stub, "close" | "url">, url: string) => void;

/** A server with paths for POST and for GET, as Starlette answers: 405 with `Allow` for another method, 404 elsewhere. */
async function start(posts: { readonly [path: string]: Answer }, gets: { readonly [path: string]: Answer }): Promise<Stub> {
  const stub = {
    received: [] as Tree[],
    headers: [] as IncomingMessage["headers"][],
    worked: [] as string[],
    others: [] as string[],
  };
  const routeOf = (paths: { readonly [path: string]: Answer }, path: string): Answer | undefined =>
    paths[path] ?? Object.entries(paths).find(([each]) => each.endsWith("/") && path.startsWith(each))?.[1];
  const server: Server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const url = new URL(incoming.url ?? "/", "http://stub");
      const method = incoming.method ?? "";
      const [post, get] = [routeOf(posts, url.pathname), routeOf(gets, url.pathname)];
      const answer = method === "POST" ? post : method === "GET" ? get : undefined;
      if (answer !== post || post === undefined) stub.others.push(`${method} ${url.pathname}${url.search}`);
      if (answer === undefined) {
        if (post === undefined && get === undefined) return void response.writeHead(404).end("Not Found");
        return void response.writeHead(405, { allow: post === undefined ? "GET, HEAD" : "POST" }).end("Method Not Allowed");
      }
      try {
        const body = method === "POST" ? (JSON.parse(Buffer.concat(chunks).toString()) as Tree) : {}; // of our client
        if (method === "POST") {
          stub.received.push(body);
          stub.headers.push(incoming.headers);
        }
        answer({ method, url, headers: incoming.headers, body }, response, stub, origin());
      } catch (thrown) {
        const status = thrown instanceof Refusal ? thrown.status : 500;
        json(response, status, { error: `Message handling failed: ${thrown instanceof Error ? thrown.message : "?"}` });
      }
    });
  });
  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  return {
    ...stub,
    url: origin(),
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const OK: Answer = (_request, response) => void response.writeHead(200, { "content-type": "text/plain" }).end("OK");

function checkVersions(context: unknown): void {
  const [least, most] = [at(context, "min_version"), at(context, "max_version")];
  if (typeof least === "string" && compare(least) > 0) throw new Refusal(400, `version 1.0.0 is below ${least}`);
  if (typeof most === "string" && compare(most) < 0) throw new Refusal(400, `version 1.0.0 is above ${most}`);
}

function compare(version: string): number {
  const numbers = version.split(".").map(Number);
  for (const [index, own] of VERSION.entries()) if ((numbers[index] ?? 0) !== own) return (numbers[index] ?? 0) - own;
  return 0;
}

/** Works once for each id and each key: a repeat gets the first answer. */
function once(
  answers: Map<string, readonly string[]>,
  names: readonly unknown[],
  work: () => readonly string[],
): readonly string[] {
  const keys = names.filter((name): name is string => typeof name === "string");
  const known = keys.map((key) => answers.get(key)).find((answer) => answer !== undefined);
  const answer = known ?? work();
  for (const key of keys) answers.set(key, answer);
  return answer;
}

/** The words of the agent, in pieces. */
function piecesFor(text: string): readonly string[] {
  if (text === "fail") throw new Refusal(500, "the agent failed");
  return ["you ", "said: ", text];
}

/** Pieces as server-sent events with ids, after `Last-Event-ID`. `cut` breaks the connection once, after the second piece. */
function stream(request: Request, response: ServerResponse, pieces: readonly string[], write: (piece: string) => unknown): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const last = request.headers["last-event-id"];
  const first = typeof last === "string" ? Number(last) : 0;
  const cut = last === undefined && pieces.at(-1) === "cut" ? 2 : pieces.length;
  for (const [index, piece] of pieces.slice(0, cut).entries())
    if (index >= first) response.write(`id: ${index + 1}\ndata: ${JSON.stringify(write(piece))}\n\n`);
  if (cut < pieces.length) setTimeout(() => response.destroy(), 50);
  else response.end();
}

const wantsEvents = ({ headers }: Request): boolean => headers.accept?.includes("text/event-stream") === true;

/** A2A as in G.7: `POST /message`. Events are those of the reference server: dumps of the Python SDK's models. */
export function startA2aStub(): Promise<Stub> {
  const answers = new Map<string, readonly string[]>();
  const event = (text: string) => ({
    context_id: null,
    extensions: null,
    kind: "message",
    message_id: "0f0e0d0c-0000-4000-8000-00000000000a",
    metadata: null,
    parts: [{ kind: "text", metadata: null, text }],
    reference_task_ids: null,
    role: "agent",
    task_id: null,
  });
  return start(
    {
      "/message": (request, response, { worked }) => {
        const { id, params } = request.body;
        checkVersions(at(params, "context"));
        const text = String(at(params, "message", "text"));
        const pieces = once(answers, [id, at(params, "context", "idempotency_key")], () => {
          const found = piecesFor(text);
          worked.push(text);
          return found;
        });
        if (wantsEvents(request)) return stream(request, response, pieces, event);
        json(response, 200, { events: [event(pieces.join(""))] });
      },
    },
    {
      "/health": OK,
      "/.well-known/agent.json": (_request, response, _stub, url) =>
        json(response, 200, {
          name: "Agent plain-a2a",
          url: `${url}/`,
          protocolVersion: "1.0.0",
          skills: [{ id: "agent_execution", name: "Agent Execution", description: "Execute agent tasks" }],
          capabilities: { streaming: true, supportsAuthenticatedExtendedCard: false, nativeSDK: true },
        }),
    },
  );
}

/** ACP as in G.7: `POST /acp/message`. A message `slow` is a job, found at `/acp/status` as G.3 says. */
export function startAcpStub(): Promise<Stub> {
  const answers = new Map<string, readonly string[]>();
  const jobs = new Map<string, number>();
  const result = (content: string) => ({ type: "text", content, timestamp: 1_730_000_000 });
  return start(
    {
      "/acp/message": (request, response, { worked }) => {
        const { id, payload, metadata, context } = request.body;
        checkVersions(context);
        const text = String(at(payload, "text"));
        if (text === "slow") {
          jobs.set(String(id), 0);
          worked.push(text);
          return json(response, 202, { status: "accepted", job_id: id, timestamp: 1_730_000_000 });
        }
        const pieces = once(answers, [id, at(metadata, "idempotency_key")], () => {
          const found = piecesFor(text);
          worked.push(text);
          return found;
        });
        if (wantsEvents(request)) return stream(request, response, pieces, result);
        json(response, 200, { results: [result(pieces.join(""))], timestamp: 1_730_000_000, status: "completed" });
      },
    },
    {
      "/health": OK,
      "/acp/capabilities": (_request, response) =>
        json(response, 200, {
          agent_id: "plain-acp",
          capabilities: ["text_processing"],
          protocol: "ACP",
          version: "1.0.0",
          features: ["streaming", "progress_tracking", "async_generator"],
        }),
      "/acp/status": ({ url }, response) => {
        const job = url.searchParams.get("run_id") ?? url.searchParams.get("job_id");
        if (job === null) return json(response, 200, { agent_id: "plain-acp", status: "healthy", timestamp: 1_730_000_000 });
        const asked = jobs.get(job);
        if (asked === undefined) return json(response, 404, { error: "no such job" });
        jobs.set(job, asked + 1);
        if (asked < 2) return json(response, 200, { job_id: job, status: "in-progress", timestamp: 1_730_000_000 });
        json(response, 200, { job_id: job, status: "completed", results: [result("slowly done")], timestamp: 1_730_000_000 });
      },
      "/.well-known/agent.json": (_request, response, _stub, url) =>
        json(response, 200, {
          name: "ACP Agent plain-acp",
          url: `${url}/`,
          protocolVersion: "1.0.0",
          protocol: "ACP",
          agent_id: "plain-acp",
          capabilities: ["text_processing"],
          endpoints: {
            message: `${url}/acp/message`,
            capabilities: `${url}/acp/capabilities`,
            status: `${url}/acp/status`,
            health: `${url}/health`,
          },
          features: { streaming: true, progress_tracking: true, async_generator: true, sdk_native: true },
        }),
    },
  );
}

/** Agora as in G.3 and G.7: `POST /agora`, `POST /conversations/{id}`, and replies of `status` and `body`. Nothing else. */
export function startAgoraStub(): Promise<Stub> {
  const answers = new Map<string, readonly string[]>();
  const turns = new Map<string, number>();
  const answer: Answer = ({ url, body }, response, { worked }) => {
    checkVersions(at(body, "context"));
    const text = String(at(body, "message"));
    if (text === "fail") return json(response, 200, { status: "failure", body: "the agent failed" });
    const [, continued] = /^\/conversations\/(.+)$/.exec(url.pathname) ?? [];
    if (continued !== undefined && !turns.has(continued))
      return json(response, 404, { status: "error", body: "Conversation not found." });
    const id = continued ?? (at(body, "multiround") === true ? `c-${turns.size + 1}` : undefined);
    const turn = id === undefined ? 0 : (turns.get(id) ?? 0) + 1;
    if (id !== undefined) turns.set(id, turn);
    const words = once(answers, [at(body, "metadata", "request_id"), at(body, "metadata", "idempotency_key")], () => {
      worked.push(text);
      return [turn > 1 ? `turn ${turn}: ` : "", ...piecesFor(text)];
    });
    json(response, 200, { status: "success", body: words.join(""), conversationId: id });
  };
  return start({ "/agora": answer, "/conversations/": answer }, { "/health": OK });
}
