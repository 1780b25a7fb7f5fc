import { AgentError, type Card, type Interface, type JsonObject, type Maybe } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { bytesResponse, documentResponse } from "../document.js";
import type { Contribution, Host, Route, Served } from "../protocol.js";
import { type CardReader, readerOf } from "./card/readers.js";
import { signedCard, verbatimBytes, verbatimDocument } from "./card/served-card.js";
import { AGENT_METADATA, HEALTH_SERVICE, isGrpc, REFLECTION_BYTES, REFLECTION_SERVICES, SERVICES } from "./grpc/address.js";
import { writeNotice } from "./notify.js";
import { BASE, interfacesOf } from "./server/addresses.js";
import type { AnswerGrpc, GrpcAddress } from "./server/grpc.js";
import type { GrpcHealth } from "./server/grpc-health.js";
import { answerJsonRpc } from "./server/json-rpc.js";
import { requestedVersion } from "./server/negotiate.js";
import { answerPlain } from "./server/plain.js";
import { answerRest } from "./server/rest.js";
import { CARD_FORMS, readSettings } from "./settings.js";

const CARD_PATH = "/.well-known/agent-card.json";
const OLD_CARD_PATH = "/.well-known/agent.json";

export const routes: readonly Route[] = [
  { method: "*", path: BASE },
  { method: "*", path: `${BASE}/*` },
  { method: "GET", path: CARD_PATH },
  { method: "HEAD", path: CARD_PATH },
  { method: "POST", path: "/message" },
  ...Object.values(SERVICES).map((service): Route => ({ method: "POST", path: `${service}/*`, when: isGrpc })),
  // Health is for anyone: a load balancer has no credentials.
  { method: "POST", path: `${HEALTH_SERVICE}/*`, when: isGrpc, proves: true, health: true },
  ...REFLECTION_SERVICES.map(
    (service): Route => ({ method: "POST", path: `${service}/*`, when: isGrpc, streamedBytes: REFLECTION_BYTES }),
  ),
  // Outranks other protocols at the root, and answers requests that cannot be parsed.
  { method: "POST", path: "/", rank: 10, whose: looksLikeJsonRpc },
];

/** Path segments that are operations or versions, and cannot name an agent or a tenant. */
const RESERVED: ReadonlySet<string> = new Set([
  "v1",
  "tasks",
  "message:send",
  "message:stream",
  "extendedAgentCard",
  "card",
  ".well-known",
]);

export function serve(host: Host): Served {
  const settings = readSettings(host.settings("a2a"));
  for (const { name } of host.cards()) {
    if (RESERVED.has(name))
      throw new AgentError("conflict", `an agent cannot be named ${JSON.stringify(name)}: the name is reserved by the A2A paths`);
  }

  // Detects cards that cannot be signed at start.
  for (const card of host.cards()) {
    const addressed: Card = { ...card, interfaces: interfacesOf(host, card.name, "http://localhost") };
    for (const form of CARD_FORMS) signedCard(host, form, addressed);
  }

  function exchange(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const { path } = request;
    if (path === BASE || path === "/" || path === `${BASE}/`)
      return request.method === "POST" ? rpc(request, defaultCard(), undefined) : postOnly();
    if (path === CARD_PATH) return cardResponse(request, defaultCard());
    if (path === "/message") return answerPlain(host, defaultCard(), request);
    if (path.startsWith(`${HEALTH_SERVICE}/`)) return answerHealth(request);
    if (REFLECTION_SERVICES.some((service) => path.startsWith(`${service}/`))) return reflection(request);
    if (!path.startsWith(`${BASE}/`)) return grpc(request);
    return below(request, path.slice(BASE.length + 1).split("/"));
  }

  /** `/a2a/[agent/][v1/ or tenant/]operation`; `/a2a/agent` alone is the JSON-RPC address of the agent. */
  function below(request: HttpRequest, segments: readonly string[]): HttpResponse | Promise<HttpResponse> {
    const named = agentAt(segments[0] ?? "");
    const card = named ?? defaultCard();
    const rest = named === undefined ? segments : segments.slice(1);
    if (named !== undefined && (rest.length === 0 || (rest.length === 1 && rest[0] === ""))) {
      return request.method === "POST" ? rpc(request, card, undefined) : postOnly();
    }
    if (named !== undefined && `/${rest.join("/")}` === CARD_PATH) return cardResponse(request, card);
    const [first = ""] = rest;
    if (first === "v1")
      return answerRest(host, settings, request, { card, version: "0.3", tenant: undefined, segments: rest.slice(1) });
    if (RESERVED.has(first) || rest.length < 2)
      return answerRest(host, settings, request, { card, version: "1.0", tenant: undefined, segments: rest });
    return answerRest(host, settings, request, {
      card,
      version: "1.0",
      tenant: first,
      segments: rest.slice(1),
    });
  }

  let agents = addressAgents(host);
  /** The agents by path segment, cached until the host serves other agents. */
  function addressed(): AddressedAgents {
    if (agents.cards !== host.cards()) agents = addressAgents(host);
    return agents;
  }
  const agentAt = (segment: string): Maybe<Card> => addressed().bySegment.get(segment);

  const rpc = (request: HttpRequest, card: Card, tenant: Maybe<string>): Promise<HttpResponse> =>
    answerJsonRpc(host, card, request, tenant);

  // Loaded by the first gRPC call: the protobuf schemas are large, and many hosts never need them. Later calls do not ask for the module
  // again, which costs several turns of the microtask queue.
  let answerGrpc: Maybe<AnswerGrpc>;
  const grpc = (request: HttpRequest): Promise<HttpResponse> =>
    answerGrpc === undefined ? firstGrpc(request) : answerGrpc(host, settings, request, grpcAddress(request));
  async function firstGrpc(request: HttpRequest): Promise<HttpResponse> {
    ({ answerGrpc } = await import("./server/grpc.js"));
    return answerGrpc(host, settings, request, grpcAddress(request));
  }
  const agentOf = (tenant: string): Maybe<Card> => agentAt(encodeURIComponent(tenant));
  function grpcAddress({ headers: { [AGENT_METADATA]: named } }: HttpRequest): GrpcAddress {
    return { card: named === undefined ? defaultCard() : agentOf(named), agentOf };
  }
  let health: Maybe<GrpcHealth>;
  let closed = false;
  async function answerHealth(request: HttpRequest): Promise<HttpResponse> {
    const { GrpcHealth } = await import("./server/grpc-health.js");
    health ??= new GrpcHealth(host.health);
    if (closed) health.close();
    return await health.answer(request);
  }
  async function reflection(request: HttpRequest): Promise<HttpResponse> {
    return (await import("./server/grpc-reflection.js")).answerReflection(host, settings, request);
  }

  function defaultCard(): Card {
    const [card] = host.cards();
    if (card === undefined) throw new AgentError("internal", "the host serves no agent");
    return card;
  }

  const withInterfaces = (card: Card, request: HttpRequest): Card => ({
    ...card,
    interfaces: interfaces(card.name, host.publicUrl(request)),
  });
  /** A relayed card is served as received; all others are generated. */
  function cardResponse(request: HttpRequest, card: Card): HttpResponse {
    const { since } = addressed();
    const verbatim = verbatimBytes(card);
    if (verbatim !== undefined) return bytesResponse(request, verbatim, "", since);
    return documentResponse(request, cardFor(request, withInterfaces(card, request)), vary.join(", "), since);
  }
  /** The card in the requested version, or else in the format of the settings. */
  const cardFor = (request: HttpRequest, card: Card): JsonObject =>
    verbatimDocument(card) ?? signedCard(host, requestedVersion(request) ?? settings.cardForm, card, readerFor(request));
  /** A request that names its version gets that version as specified. */
  const readerFor = (request: HttpRequest): Maybe<CardReader> =>
    settings.cardForm === "auto" && requestedVersion(request) === undefined ? readerOf(request.headers["user-agent"]) : undefined;
  const vary = settings.cardForm === "auto" ? ["A2A-Version", "User-Agent"] : ["A2A-Version"];

  const interfaces = (agent: string, publicUrl: string): readonly Interface[] => interfacesOf(host, agent, publicUrl);

  const contributions: readonly Contribution[] = [
    {
      path: OLD_CARD_PATH,
      vary,
      whole: host.signatures({}).length > 0 || verbatimBytes(defaultCard()) !== undefined,
      members: (request) => cardFor(request, withInterfaces(defaultCard(), request)),
    },
  ];
  const notify: Served["notify"] = (event, config, task) => writeNotice(event, config, task, settings.pushTokenHeader);
  async function close(): Promise<void> {
    closed = true;
    health?.close();
  }
  return { exchange, interfaces, contributions, notify, close };
}

interface AddressedAgents {
  readonly cards: readonly Card[];
  readonly bySegment: ReadonlyMap<string, Card>;
  /** When the cards last changed, in milliseconds since the epoch. */
  readonly since: number;
}

function addressAgents(host: Host): AddressedAgents {
  const cards = host.cards();
  return { cards, bySegment: new Map(cards.map((card) => [encodeURIComponent(card.name), card])), since: host.now() };
}

function looksLikeJsonRpc(request: HttpRequest): boolean {
  try {
    const body = request.json();
    return typeof body !== "object" || body === null || Array.isArray(body) || "jsonrpc" in body || "method" in body;
  } catch {
    return true;
  }
}

function postOnly(): HttpResponse {
  return {
    status: 405,
    headers: { allow: "POST", "content-type": "application/json" },
    body: '{"error":{"code":405,"message":"JSON-RPC requires POST"}}',
  };
}
