import { AgentError, type ErrorCode } from "../../src/index.js";
import { errorResponse, isFresh, jsonResponse } from "../../src/internal.js";
import type { ExtraRoute, HttpRequest, HttpResponse } from "../../src/public/protocols.js";
import { type Asset, readAssets } from "./assets.js";
import { type Console, NODE_ACTIONS } from "./console.js";
import { createGuard, type Guard, type GuardOptions } from "./guard.js";
import { sendLines } from "./send-lines.js";
import { stateFeed } from "./state-feed.js";

export type DashboardOptions = GuardOptions;

type Answer = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Limit of listed tasks. */
const TASKS_LISTED = 200;
const ASSET_PREFIX = "/koine/assets/";
const TASK_PREFIX = "/koine/api/tasks/";
const NODE_PREFIX = "/koine/api/nodes/";

/** No foreign or inline content, no markup from text, no framing. */
const SAFE_HEADERS = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** Routes of the page and its API, except for messages, for the admin listener. Only the page's own files need no token. */
export function dashboardRoutes(console: Console, options: DashboardOptions): readonly ExtraRoute[] {
  const guard = createGuard(options);
  const asset = assetServer();
  const shown = (path: string, access: ExtraRoute["access"], answer: Answer): readonly ExtraRoute[] =>
    ["GET", "HEAD"].map((method) => ({ route: { method, path }, exchange: guarded(undefined, answer), access }));
  const file = (path: string, answer: Answer): readonly ExtraRoute[] => shown(path, "anybody", answer);
  const read = (path: string, answer: Answer): readonly ExtraRoute[] => shown(path, "operator", answer);
  const act = (path: string, answer: Answer): ExtraRoute => ({
    // On the callers' port the callers' admission knows nothing of the token.
    route: { method: "POST", path, proves: true },
    exchange: guarded(guard.act, answer),
    access: "operator",
  });
  const { send } = console;

  return [
    ...file("/koine", () => ({ status: 308, headers: { location: "koine/" }, body: undefined })),
    ...file("/koine/", (request) => asset(request, "index.html")),
    ...file(`${ASSET_PREFIX}*`, (request) => asset(request, request.path.slice(ASSET_PREFIX.length))),
    ...read("/koine/api/session", (request) => json(session(console, guard, request))),
    ...read("/koine/api/state", () => json(console.state())),
    {
      route: { method: "GET", path: "/koine/api/state/feed" },
      exchange: guarded(undefined, stateFeed(console)),
      access: "operator",
    },
    ...read("/koine/api/tasks", async () => json({ tasks: await console.tasks(TASKS_LISTED) })),
    ...read(`${TASK_PREFIX}*`, async (request) => json({ events: await console.taskEvents(taskOf(request)) })),
    ...read(`${NODE_PREFIX}*`, (request) => json({ ways: interfacesOf(console, request) })),
    act(`${NODE_PREFIX}*`, (request) => actOn(console, request)),
    ...(send === undefined ? [] : [act("/koine/api/send", sendLines(send.bind(console)))]),
  ];
}

const STATUS: { readonly [code in ErrorCode]?: number } = {
  invalid_message: 400,
  decode: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  task_not_found: 404,
  conflict: 409,
  too_large: 413,
  unsupported: 501,
  overloaded: 503,
  unavailable: 503,
};

/** Adds the security headers to every response, errors included. */
function guarded(allow: Guard["act"] | undefined, answer: Answer): Answer {
  const allowed = async (request: HttpRequest): Promise<HttpResponse> => {
    allow?.(request);
    return answer(request);
  };
  return async (request) => {
    const response = await allowed(request).catch(refusal);
    const headers = { ...SAFE_HEADERS, "cache-control": "no-store", ...response.headers };
    return request.method === "HEAD" ? { status: response.status, headers, body: undefined } : { ...response, headers };
  };
}

function refusal(thrown: unknown): HttpResponse {
  const error = AgentError.from(thrown);
  return errorResponse(STATUS[error.code] ?? 500, error);
}

const json = (value: unknown): HttpResponse => jsonResponse(200, JSON.stringify(value));

/** Permissions of this visitor, so that the page can disable what is not allowed. */
function session(console: Console, guard: Guard, request: HttpRequest): { readonly [name: string]: boolean } {
  const holdsToken = guard.holdsToken(request);
  return { holdsToken, maySend: holdsToken && console.send !== undefined, mayAct: holdsToken && console.act !== undefined };
}

/** Files are read once, on the first request; a failure is retried by the next. */
function assetServer(): (request: HttpRequest, name: string) => Promise<HttpResponse> {
  let reading: Promise<ReadonlyMap<string, Asset>> | undefined;
  return async (request, name) => {
    reading ??= readAssets();
    const assets = await reading.catch((thrown: unknown) => {
      reading = undefined;
      throw thrown;
    });
    const found = assets.get(name);
    if (found === undefined) throw new AgentError("not_found", `The page has no file ${JSON.stringify(name.slice(0, 100))}`);
    const headers = { "content-type": found.type, etag: found.etag, "cache-control": "no-cache" };
    if (isFresh(request.headers["if-none-match"], found.etag)) return { status: 304, headers, body: undefined };
    return { status: 200, headers, body: found.text };
  };
}

const taskOf = (request: HttpRequest): string => decoded(request.path.slice(TASK_PREFIX.length));

function interfacesOf(console: Console, request: HttpRequest): unknown {
  const { node, rest } = nodeOf(request);
  if (rest !== "ways") throw new AgentError("not_found", `No route for ${request.method} ${request.path}`);
  return known(console, node) && console.interfaces(node);
}

async function actOn(console: Console, request: HttpRequest): Promise<HttpResponse> {
  const { node, rest } = nodeOf(request);
  const action = NODE_ACTIONS.find((each) => each === rest);
  if (action === undefined) throw new AgentError("not_found", `No route for ${request.method} ${request.path}`);
  const { actions, title } = known(console, node);
  if (console.act === undefined || !actions.includes(action))
    throw new AgentError("conflict", `${title} does not support ${action} in its current state`);
  const says = await console.act(node, action);
  return says === undefined ? { status: 204, headers: {}, body: undefined } : json({ says });
}

function nodeOf({ path }: HttpRequest): { readonly node: string; readonly rest: string } {
  const [node = "", rest = "", ...more] = path.slice(NODE_PREFIX.length).split("/");
  return { node: decoded(node), rest: more.length === 0 ? rest : "" };
}

function known(console: Console, id: string): ReturnType<Console["state"]>["nodes"][number] {
  const node = console.state().nodes.find((each) => each.id === id);
  if (node === undefined) throw new AgentError("not_found", `Unknown node ${JSON.stringify(id.slice(0, 100))}`);
  return node;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AgentError("not_found", "The path is not valid UTF-8");
  }
}
