import {
  AgentError,
  type AgentEvent,
  type Call,
  type Capabilities,
  type Card,
  type Extension,
  type Handler,
  isPromise,
  isSealed,
  type Operation,
  type OperationOf,
  type Reply,
  type Security,
  versionProblem,
} from "../envelope/index.js";
import type { HostParts } from "../protocols/host.js";
import type { Agent } from "./agent.js";

/** An agent, and its card as this host serves it. */
interface HostedAgent {
  readonly agent: Agent;
  readonly card: Card;
}

/** Handles cards, pings and unsupported content; passes everything else to the task runtime. */
export function hostHandler(agents: ReadonlyMap<string, HostedAgent>, runtime: Handler): Handler {
  function answerAtHost(operation: Operation, call: Call): Reply {
    const served = agents.get(call.agent);
    const misfit = operation.kind === "send" ? refusedVersion(operation, call) : undefined;
    if (misfit !== undefined) return Promise.reject(misfit);
    const own = served?.agent.answers?.(operation, call);
    if (own !== undefined) return operation.kind === "card" && served !== undefined ? asServed(own, served.card) : own;
    switch (operation.kind) {
      case "send": {
        const refused = refusedContent(served?.agent, operation);
        return refused === undefined ? runtime(operation, call) : Promise.reject(refused);
      }
      case "card":
        return cardEvent(served, operation, call);
      case "ping":
      case "session.close":
        return Promise.resolve({ kind: "done" });
      default:
        return runtime(operation, call);
    }
  }
  return (operation, call) =>
    wantsNoStream(operation)
      ? answerOnce(answerAtHost({ ...operation, delivery: "answer" }, call))
      : answerAtHost(operation, call);
}

/** `context.stream` is the caller's word where an operation streams by its name; a resumed stream stays one. */
function wantsNoStream(operation: Operation): operation is OperationOf<"send"> {
  if (operation.kind !== "send" || operation.delivery !== "stream" || operation.after !== undefined) return false;
  return operation.envelope.context.stream === false;
}

/** The whole answer as the only event of a stream. */
async function* answerOnce(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}

/** Security and push on a card are those of the host, whatever agent made it. */
async function asServed(reply: Reply, { security, capabilities: { push, pushDelivery } }: Card): Promise<AgentEvent> {
  const event = await (reply as Promise<AgentEvent>); // a card request has one answer
  if (event.kind !== "card") return event;
  const { card } = event;
  return { ...event, card: { ...card, security, capabilities: { ...card.capabilities, push, pushDelivery } } };
}

/** The versions of a message are about the interface that its author calls: behind a gateway they have been checked. */
function refusedVersion({ envelope }: OperationOf<"send">, { via, hops }: Call): AgentError | undefined {
  return hops === 0 ? versionProblem(via.version, envelope.context) : undefined;
}

/** Rejects parts with a media type the agent does not accept. Parts without one are accepted, and ciphertext, whose type is inside. */
function refusedContent(agent: Agent | undefined, { envelope }: OperationOf<"send">): AgentError | undefined {
  if (agent === undefined || agent.acceptsEverything) return undefined;
  for (const [index, part] of envelope.content.entries()) {
    const { mediaType } = part;
    if (mediaType === undefined || agent.card.inputModes.some((mode) => covers(mode, mediaType)) || isSealed(part)) continue;
    const field = `message.parts[${index}].mediaType`;
    return new AgentError(
      "unsupported_content",
      `${field}: ${mediaType} is not supported; accepted: ${agent.card.inputModes.join(", ")}`,
      {
        field,
      },
    );
  }
  return undefined;
}

function covers(mode: string, mediaType: string): boolean {
  const type = (mediaType.split(";", 1)[0] ?? "").trim().toLowerCase();
  return (
    mode === "*/*" || mode.toLowerCase() === type || (mode.endsWith("/*") && type.startsWith(mode.slice(0, -1).toLowerCase()))
  );
}

async function cardEvent(served: HostedAgent | undefined, { extended }: OperationOf<"card">, call: Call): Promise<AgentEvent> {
  if (served === undefined) throw new AgentError("not_found", "unknown agent");
  const { agent } = served;
  if (!extended) return { kind: "card", card: served.card };
  if (!agent.hasExtendedCard) throw new AgentError("unsupported", "this agent has no extended card");
  if (call.caller.scheme === "anonymous")
    throw new AgentError("unauthenticated", "the extended card is for authenticated callers");
  const card = agent.extendedCard(call.caller, served.card);
  if (card === undefined) throw new AgentError("card_not_configured", "no extended card is configured for this caller");
  return { kind: "card", card };
}

/** The agents by name, with the cards this host serves: security and push are those of the host. */
export function hostedAgents(
  agents: readonly Agent[],
  security: Security,
  offered: Partial<Capabilities>,
  extensions: readonly Extension[] = [],
): ReadonlyMap<string, HostedAgent> {
  const byName = new Map<string, HostedAgent>();
  for (const agent of agents) {
    if (byName.has(agent.name)) throw new AgentError("conflict", `duplicate agent name ${agent.name}`);
    const own = agent.card.capabilities;
    // The card of a bridged agent has those of its own server.
    const others = own.extensions.filter(({ uri }) => !extensions.some((each) => each.uri === uri));
    const all = extensions.length === 0 ? own.extensions : [...others, ...extensions];
    const card: Card = { ...agent.card, security, capabilities: { ...own, ...offered, extensions: all } };
    byName.set(agent.name, { agent, card });
  }
  if (byName.size === 0) throw new AgentError("invalid_message", "no agents to serve");
  return byName;
}

/** Calls carry the callers' credentials only to agents that forward them. */
export function credentialForwarders(agents: readonly Agent[]): HostParts["sendsCredentialsOn"] {
  const names = new Set(agents.flatMap(({ name, sendsCredentialsOn }) => (sendsCredentialsOn === true ? [name] : [])));
  return names.size === 0 ? undefined : (agent) => names.has(agent);
}
