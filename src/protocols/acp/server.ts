import { AgentError, type Interface, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../transport/response.js";
import { callerError } from "../host.js";
import type { Contribution, Host, Route, Served } from "../protocol.js";
import { errorStatus, wireErrorOf } from "./errors.js";
import { defaultAgent } from "./server/agents.js";
import { listAgents, showAgent, showDiscovery } from "./server/manifests.js";
import { DISCOVERY_PATH, matchPath, type PathMatch, type Wanted } from "./server/paths.js";
import { answerMessage } from "./server/plain.js";
import { plainMethodNotAllowed } from "./server/plain-reply.js";
import { FEATURES, showCapabilities, showStatus } from "./server/plain-status.js";
import { admit, type RequestContext } from "./server/request-context.js";
import { showEvents } from "./server/run-events.js";
import { cancelRun, createRun, readRun, resumeRun } from "./server/runs.js";
import { showResource, showSession } from "./server/sessions.js";
import { readSettings } from "./settings.js";

const MESSAGE_PATH = "/acp/message";
const CAPABILITIES_PATH = "/acp/capabilities";
const STATUS_PATH = "/acp/status";

/** All methods, so that an unsupported one is also rejected in ACP format. */
export const routes: readonly Route[] = [
  "/ping",
  "/agents",
  "/agents/*",
  "/runs",
  "/runs/*",
  "/session/*",
  "/sessions/*",
  "/resources/*",
  DISCOVERY_PATH,
  MESSAGE_PATH,
  CAPABILITIES_PATH,
  STATUS_PATH,
].map((path) => ({ method: "*", path }));

export function serve(host: Host): Served {
  const settings = readSettings(host.settings("acp"));

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    const context: RequestContext = { host, settings, request };
    const response = await (request.path.startsWith("/acp/") ? answerPlain(context) : answerRest(context));
    return request.method === "HEAD" ? { ...response, body: undefined } : response;
  }

  const interfaces = (agent: string, publicUrl: string): readonly Interface[] => [
    // Requests name the agent; the URL also does, except for the default agent.
    {
      protocol: "acp",
      version: "0.2",
      binding: "REST",
      url: publicUrl + (isDefault(agent) ? "" : `/agents/${encodeURIComponent(agent)}`),
    },
  ];
  const isDefault = (agent: string): boolean => defaultAgent(host).name === agent;

  return { exchange, interfaces, contributions: [wellKnown(host)] };
}

async function answerRest(context: RequestContext): Promise<HttpResponse> {
  const { request } = context;
  try {
    const matched = await pathOf(context);
    if (matched === undefined) return noRoute(request);
    return "allow" in matched ? methodNotAllowed(request, matched.allow) : await answerWanted(context, matched);
  } catch (thrown) {
    return refuse(callerError(context.host, thrown));
  }
}

/** Ids are validated only after authentication. */
async function pathOf(context: RequestContext): Promise<Maybe<PathMatch>> {
  const { method, path } = context.request;
  try {
    return matchPath(method === "HEAD" ? "GET" : method, path);
  } catch (thrown) {
    await admit(context);
    throw thrown;
  }
}

const PUBLIC: ReadonlySet<Wanted["kind"]> = new Set(["ping", "agents", "agent", "discovery"]);

/** Card data is public; everything else requires authentication. */
async function answerWanted(context: RequestContext, wanted: Wanted): Promise<HttpResponse> {
  if (PUBLIC.has(wanted.kind)) context.host.checkPublic?.(context.request);
  switch (wanted.kind) {
    case "ping":
      return answerPing(context);
    case "agents":
      return listAgents(context);
    case "agent":
      return showAgent(context, wanted.name);
    case "discovery":
      return showDiscovery(context);
    case "run.create":
      return createRun(await admit(context));
    case "run.read":
      return readRun(await admit(context), wanted.runId);
    case "run.resume":
      return resumeRun(await admit(context), wanted.runId);
    case "run.cancel":
      return cancelRun(await admit(context), wanted.runId);
    case "run.events":
      return showEvents(await admit(context), wanted.runId);
    case "session":
      return showSession(await admit(context), wanted.sessionId);
    case "resource":
      return showResource(await admit(context), wanted.runId, wanted.index);
    default:
      return wanted satisfies never;
  }
}

async function answerPing({ host }: RequestContext): Promise<HttpResponse> {
  if ((await host.health.takesCalls()) === "ok") return jsonResponse(200, "{}");
  throw new AgentError("unavailable", "this server takes no calls now");
}

function answerPlain(context: RequestContext): HttpResponse | Promise<HttpResponse> {
  const { method, path } = context.request;
  if (path === MESSAGE_PATH) return method === "POST" ? answerMessage(context) : plainMethodNotAllowed(method, ["POST"]);
  if (method !== "GET" && method !== "HEAD") return plainMethodNotAllowed(method, ["GET", "HEAD"]);
  return path === STATUS_PATH ? showStatus(context) : showCapabilities(context);
}

/**
 * The members that the seed's readers expect in `/.well-known/agent.json`. `capabilities` is a list there and an object in a
 * card, so it is served at `/acp/capabilities` only.
 */
function wellKnown(host: Host): Contribution {
  function members(request: HttpRequest): JsonObject {
    const { name, description } = defaultAgent(host);
    const url = host.publicUrl(request);
    const endpoints = {
      message: `${url}${MESSAGE_PATH}`,
      capabilities: `${url}${CAPABILITIES_PATH}`,
      status: `${url}${STATUS_PATH}`,
      health: `${url}/health`,
      runs: `${url}/runs`,
      agents: `${url}/agents`,
    };
    return { name, description, agent_id: name, endpoints, features: Object.fromEntries(FEATURES.map((each) => [each, true])) };
  }
  return { path: "/.well-known/agent.json", vary: [], members };
}

/** The error response in ACP format. */
function refuse(error: AgentError): HttpResponse {
  return jsonResponse(errorStatus(error), JSON.stringify(wireErrorOf(error)), errorHeaders(error));
}

function methodNotAllowed(request: HttpRequest, allow: readonly string[]): HttpResponse {
  const error = new AgentError("unsupported_method", `${request.method} is not allowed here; use ${allow.join(", ")}`);
  return jsonResponse(405, JSON.stringify(wireErrorOf(error)), { allow: allow.join(", ") });
}

function noRoute(request: HttpRequest): HttpResponse {
  return refuse(new AgentError("not_found", `No route for ${request.method} ${request.path}`));
}
