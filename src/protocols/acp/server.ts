import type { Interface, JsonObject, Maybe } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { jsonResponse } from "../../transport/response.js";
import { answerable } from "../answerable.js";
import type { Contribution, Host, Route, Served } from "../protocol.js";
import { defaultAgent } from "./server/agents.js";
import { type Asked, admit } from "./server/asked.js";
import { listAgents, showAgent, showDiscovery } from "./server/manifests.js";
import { DISCOVERY_PATH, matchPath, type PathMatch, type Wanted } from "./server/paths.js";
import { answerMessage } from "./server/plain.js";
import { plainMethodNotAllowed } from "./server/plain-reply.js";
import { FEATURES, showCapabilities, showStatus } from "./server/plain-status.js";
import { methodNotAllowed, nobodyHere, refuse } from "./server/refuse.js";
import { showEvents } from "./server/run-events.js";
import { cancelRun, createRun, readRun, resumeRun } from "./server/runs.js";
import { showResource, showSession } from "./server/sessions.js";
import { readSettings } from "./settings.js";

const MESSAGE_PATH = "/acp/message";
const CAPABILITIES_PATH = "/acp/capabilities";
const STATUS_PATH = "/acp/status";

/** Every method, so that a wrong one is refused in this protocol's form too. */
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
    const asked: Asked = { host, settings, request };
    const response = await (request.path.startsWith("/acp/") ? answerPlain(asked) : answerRest(asked));
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

async function answerRest(asked: Asked): Promise<HttpResponse> {
  const { request } = asked;
  try {
    const matched = await pathOf(asked);
    if (matched === undefined) return nobodyHere(request);
    return "allow" in matched ? methodNotAllowed(request, matched.allow) : await answerWanted(asked, matched);
  } catch (thrown) {
    return refuse(answerable(asked.host, thrown));
  }
}

/** Ids are validated only after authentication. */
async function pathOf(asked: Asked): Promise<Maybe<PathMatch>> {
  const { method, path } = asked.request;
  try {
    return matchPath(method === "HEAD" ? "GET" : method, path);
  } catch (thrown) {
    await admit(asked);
    throw thrown;
  }
}

/** Card data is public; everything else requires authentication. */
async function answerWanted(asked: Asked, wanted: Wanted): Promise<HttpResponse> {
  switch (wanted.kind) {
    case "ping":
      return jsonResponse(200, "{}");
    case "agents":
      return listAgents(asked);
    case "agent":
      return showAgent(asked, wanted.name);
    case "discovery":
      return showDiscovery(asked);
    case "run.create":
      return createRun(await admit(asked));
    case "run.read":
      return readRun(await admit(asked), wanted.runId);
    case "run.resume":
      return resumeRun(await admit(asked), wanted.runId);
    case "run.cancel":
      return cancelRun(await admit(asked), wanted.runId);
    case "run.events":
      return showEvents(await admit(asked), wanted.runId);
    case "session":
      return showSession(await admit(asked), wanted.sessionId);
    case "resource":
      return showResource(await admit(asked), wanted.runId, wanted.index);
    default:
      return wanted satisfies never;
  }
}

function answerPlain(asked: Asked): HttpResponse | Promise<HttpResponse> {
  const { method, path } = asked.request;
  if (path === MESSAGE_PATH) return method === "POST" ? answerMessage(asked) : plainMethodNotAllowed(method, ["POST"]);
  if (method !== "GET" && method !== "HEAD") return plainMethodNotAllowed(method, ["GET", "HEAD"]);
  return path === STATUS_PATH ? showStatus(asked) : showCapabilities(asked);
}

/**
 * What the seed's readers look for in `/.well-known/agent.json`. Its `capabilities` is a list there and an object for
 * readers of the card, so it is told at `/acp/capabilities` only.
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
