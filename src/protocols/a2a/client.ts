import {
  AgentError,
  type AgentEvent,
  type Call,
  type Handler,
  type JsonObject,
  type Loss,
  type Maybe,
  type Operation,
  type OperationOf,
} from "../../envelope/index.js";
import { isEventStream } from "../../transport/body.js";
import { type Chunk, type HttpResponse, isStream, type Link } from "../../transport/exchange.js";
import { blame } from "../../transport/fields.js";
import type { Limits } from "../../transport/limits.js";
import { PeerEvents, type Source } from "../../transport/peer-events.js";
import { pollInbox } from "../poll-inbox.js";
import type { Client, ClientContext, IdSource, Peer } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { withOriginal } from "./card/card.js";
import type { ClientBinding, Outgoing } from "./client/binding.js";
import { fetchCard } from "./client/fetch-card.js";
import { jsonRpcBinding } from "./client/json-rpc.js";
import { bodyBytes, rawMember } from "./client/raw-result.js";
import { restBinding } from "./client/rest.js";
import { knownFiles } from "./codec/legacy-files.js";
import { dialectFor } from "./codec.js";
import type { DecodeFacts, Dialect } from "./dialect.js";
import type { OperationName } from "./operations.js";
import { connectPlain } from "./plain/client.js";
import { PLAIN } from "./plain/discover.js";
import { readSettings } from "./settings.js";

/** The client side: encodes operations as requests and decodes responses. One request per operation, never retried. */
export function connect(context: ClientContext): Client {
  const { link, peer, limits } = context;
  if (peer.binding === PLAIN.binding) return connectPlain(context);
  const name = bindingName(peer);
  const { legacyFiles } = readSettings(context.settings("a2a"));
  const files = legacyFiles === "auto" ? knownFiles(peer.card) : legacyFiles;
  const dialect = dialectFor(peer.version, name, files);
  const wire: Wire = { link, peer, ids: context, limits, name, binding: bindingFor(name), dialect };
  const handler: Handler = (operation, call) => {
    switch (operation.kind) {
      case "ping":
        return ping(wire, call);
      case "card":
        return operation.extended ? unary(wire, operation, call) : card(wire, call);
      case "task.subscribe":
        return operation.follow ? stream(wire, operation, call) : unfollowed();
      case "send":
        return operation.delivery === "stream" ? stream(wire, operation, call) : unary(wire, operation, call);
      default:
        return unary(wire, operation, call);
    }
  };
  return { handler, protection: () => tlsProtection(peer.url), receive: pollInbox(context), close: async () => undefined };
}

function bindingName({ binding }: Peer): ClientBinding["name"] {
  if (binding === "JSONRPC" || binding === "HTTP+JSON" || binding === "GRPC") return binding;
  throw new AgentError("unsupported", `the A2A binding ${binding} is not supported`, { sent: "no" });
}

/** gRPC is loaded on demand: the protobuf schemas are large, and most peers do not need them. */
function bindingFor(name: ClientBinding["name"]): ClientBinding | Promise<ClientBinding> {
  switch (name) {
    case "JSONRPC":
      return jsonRpcBinding;
    case "HTTP+JSON":
      return restBinding;
    case "GRPC":
      return import("./client/grpc.js").then(({ grpcBinding }) => grpcBinding);
    default:
      return name satisfies never;
  }
}

interface Wire {
  readonly link: Link;
  readonly peer: Peer;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly name: ClientBinding["name"];
  readonly binding: ClientBinding | Promise<ClientBinding>;
  readonly dialect: Dialect;
}

async function unary(wire: Wire, operation: Operation, call: Call): Promise<AgentEvent> {
  const outgoing = encode(wire, operation, call, false);
  const binding = wire.binding instanceof Promise ? await wire.binding : wire.binding;
  const response = await wire.link.exchange(binding.write(outgoing));
  const read = binding.readResult(response, outgoing);
  const result = read instanceof Promise ? await read : read;
  const event = decoded(() => wire.dialect.decodeResult(operation, result, factsFor(wire, operation, call)));
  return event.kind === "card" ? { ...event, card: withOriginal(event.card, rawResult(wire, response, result)) } : event;
}

/** The card document as received, for signature verification. */
function rawResult({ name }: Wire, response: HttpResponse, result: unknown): Uint8Array {
  if (name === "HTTP+JSON") return bodyBytes(response);
  const raw = name === "JSONRPC" ? rawMember(bodyBytes(response), "result") : undefined;
  // A gRPC response has no JSON text, so it is generated.
  return raw ?? new TextEncoder().encode(JSON.stringify(result));
}

function stream(
  wire: Wire,
  operation: OperationOf<"send"> | OperationOf<"task.subscribe">,
  call: Call,
): AsyncIterable<AgentEvent> {
  const outgoing = encode(wire, operation, call, true);
  const facts = factsFor(wire, operation, call);
  let readItem: Maybe<ClientBinding["readItem"]>;
  return new PeerEvents({
    limits: wire.limits,
    async open(): Promise<Source> {
      const binding = wire.binding instanceof Promise ? await wire.binding : wire.binding;
      const response = await wire.link.exchange(binding.write(outgoing));
      if (binding.readItems !== undefined) return { items: binding.readItems(response, outgoing) };
      readItem = binding.readItem;
      if (isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
      return { single: binding.readResult(response, outgoing) };
    },
    read: (data) => readItem?.(data, outgoing),
    // 0.3 leaves it open. 1.0 requires the task first (§3.1.2), but the Rust SDK begins with a status.
    withoutTask: wire.dialect.version === "1.0" ? (kind) => call.reportLoss(missingTask(kind)) : "accept",
    decode: (item) => decoded(() => wire.dialect.decodeStreamItem(item, facts)),
  });
}

function missingTask(kind: "status" | "artifact"): Loss {
  const reason = `the stream of the peer begins with ${kind} instead of the task, which 1.0 requires; its history is unknown`;
  return { protocol: "a2a", path: "stream.task", valueKind: "object", reason };
}

/** A response that is already complete has one chunk. */
async function* once(body: Chunk): AsyncGenerator<Chunk, void, void> {
  yield body;
}

function chunksOf({ body }: HttpResponse): AsyncIterator<Chunk> {
  return isStream(body) ? body[Symbol.asyncIterator]() : once(body ?? "");
}

/** No A2A binding can read the log of a finished task without following it. */
async function unfollowed(): Promise<AgentEvent> {
  throw new AgentError("unsupported_method", "A2A cannot read the log of a task without subscribing to it", { sent: "no" });
}

function encode(wire: Wire, operation: Operation, call: Call, streaming: boolean): Outgoing {
  if (operation.kind === "task.list" && operation.idempotencyKey !== undefined && !wire.peer.card.capabilities.idempotentSend) {
    // A server without this filter would ignore it and list all tasks.
    throw new AgentError("unsupported", "this peer cannot find a task by its idempotency key", { sent: "no" });
  }
  const reportLoss = call.reportLoss.bind(call);
  if (operation.kind === "send" && operation.push !== undefined && !wire.peer.card.capabilities.push)
    reportLoss({
      protocol: "a2a",
      path: "operation.push",
      valueKind: "object",
      reason: "the peer has no push notifications; nothing is sent to the webhook",
    });
  const text = sendText(wire, operation);
  const encoded = text === undefined ? wire.dialect.encodeRequest(operation, wire.peer.tenant, reportLoss) : asText(streaming);
  if (encoded === undefined) {
    throw new AgentError("unsupported_method", `A2A ${wire.dialect.version} has no ${operation.kind} over ${wire.name}`, {
      sent: "no",
    });
  }
  const { peer, ids } = wire;
  const timeoutMs = call.deadline === undefined ? undefined : call.deadline - ids.now();
  return {
    peer,
    operation,
    call,
    streaming,
    limits: wire.limits,
    name: encoded.name,
    params: encoded.params,
    text,
    id: ids.newId(),
    timeoutMs,
  };
}

/** Only one binding writes the params as they are. */
function sendText({ name, peer, dialect }: Wire, operation: Operation): Maybe<string> {
  if (operation.kind !== "send" || name !== "JSONRPC" || (peer.tenant !== undefined && peer.tenant !== "")) return undefined;
  return dialect.writeSendText?.(operation);
}

function asText(streaming: boolean): { readonly name: OperationName; readonly params: JsonObject } {
  return { name: streaming ? "SendStreamingMessage" : "SendMessage", params: NO_PARAMS };
}

const NO_PARAMS: JsonObject = Object.freeze({});

function factsFor({ peer, ids, limits }: Wire, operation: Operation, call: Call): DecodeFacts {
  return {
    now: ids.now(),
    src: peer.card.name,
    dst: call.caller.id,
    parentId: operation.kind === "send" ? operation.envelope.id : undefined,
    partsPerMessage: limits.partsPerMessage,
    answer: true,
    reportLoss: (loss) => call.reportLoss(loss),
  };
}

function decoded(decode: () => AgentEvent): AgentEvent {
  try {
    return decode();
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** A real round trip in the version and binding of the peer: "no such task" proves that it understood the request. */
async function ping(wire: Wire, call: Call): Promise<AgentEvent> {
  try {
    await unary(wire, { kind: "task.get", taskId: `koine-ping-${wire.ids.newId()}` }, call);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code !== "task_not_found") throw error;
  }
  return { kind: "done" };
}

async function card({ link, peer }: Wire, call: Call): Promise<AgentEvent> {
  const url = cardUrl(peer);
  const found = await fetchCard(link, url, call, undefined);
  if (found?.kind !== "card") throw new AgentError("not_found", `no agent card was found for ${url}`);
  return { kind: "card", card: found.card };
}

/** Cards are fetched over HTTP, which a gRPC-only port does not serve: use another interface of the agent. */
function cardUrl({ url, binding, card: { interfaces } }: Peer): string {
  if (binding !== "GRPC") return url;
  return interfaces.find((each) => each.protocol === "a2a" && each.binding !== "GRPC" && URL.canParse(each.url))?.url ?? url;
}
