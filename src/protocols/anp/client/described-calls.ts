import {
  AgentError,
  type AgentEvent,
  type Call,
  type ErrorCode,
  isObject,
  type Json,
  type JsonObject,
  type Maybe,
  type Operation,
  type OperationOf,
  type Part,
  type Reply,
  textOf,
} from "../../../envelope/index.js";
import { blame, kindOf } from "../../../transport/fields.js";
import { encodeRpcRequest, parseRpcResponse } from "../../../transport/json-rpc.js";
import { jsonBody } from "../../../transport/peer-answer.js";
import type { Client, ClientContext } from "../../protocol.js";
import { tlsProtection } from "../../tls-protection.js";
import { type DescribedMethod, decodeDescription, decodeInterface, type PeerInterface } from "../codec/description.js";
import { errorFromRpc } from "../errors.js";
import { readSettings } from "../settings.js";
import { PROTOCOL } from "../wire.js";
import { answerIn, factsOf } from "./answers.js";
import { SignedRequests } from "./signed-requests.js";

/** The methods that a description names: a message is one call, and its result the answer. */
export function connectDescribed(context: ClientContext): Client {
  const { peer } = context;
  const settings = readSettings(context.settings(PROTOCOL));
  const requests = new SignedRequests(context, settings.authentication);
  let found: Maybe<Promise<PeerInterface & { readonly url: string }>>;

  /** Read once: discovery knows that it is there, not what it says. */
  function described(call: Call): NonNullable<typeof found> {
    found ??= interfaceOf(call).catch((thrown: unknown) => {
      found = undefined;
      throw thrown;
    });
    return found;
  }

  async function interfaceOf(call: Call): Promise<PeerInterface & { readonly url: string }> {
    try {
      const { interfaces } = decodeDescription(jsonBody(await requests.send({ method: "GET", url: peer.url }, call)));
      const structured = interfaces.find(({ protocol, type }) => protocol === "openrpc" && type === "StructuredInterface");
      const at = structured?.url === undefined ? peer.url : new URL(structured.url, peer.url).href;
      const document = structured?.content ?? jsonBody(await requests.send({ method: "GET", url: at }, call));
      const read = decodeInterface(document);
      if (read.url === undefined)
        throw new AgentError("bad_peer", `the interface of ${peer.card.name} names no server`, { sent: "no" });
      return { ...read, url: new URL(read.url, at).href };
    } catch (thrown) {
      throw blame(thrown, "bad_peer");
    }
  }

  async function send({ envelope, delivery }: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    if (delivery === "accepted") throw new AgentError("unsupported", "the methods of this peer have no tasks", { sent: "no" });
    const { methods, url } = await described(call);
    const method = methodFor(methods, envelope.intent === "" ? settings.method : envelope.intent);
    const params = paramsFor(method, envelope.content);
    reportLosses(envelope, call);
    const id = context.newId();
    const response = await requests.send({ method: "POST", url, body: encodeRpcRequest(id, method.name, params) }, call);
    try {
      const answer = parseRpcResponse(answerIn(response), id);
      if (answer.kind === "error") throw errorFromRpc(answer.error, response.status, response.headers);
      return { kind: "message", message: messageOf(answer.result, envelope.id, call) };
    } catch (thrown) {
      throw blame(thrown, "bad_peer");
    }
  }

  function messageOf(result: Json, parentId: string, call: Call) {
    const { ts, src, dst } = factsOf(context, call);
    const content: readonly Part[] = [
      typeof result === "string" ? { kind: "text", text: result } : { kind: "data", data: result },
    ];
    return { id: context.newId(), ts, src, dst, intent: "", role: "agent" as const, content, context: { parentId }, meta: {} };
  }

  async function ping(call: Call): Promise<AgentEvent> {
    const response = await requests.send({ method: "GET", url: peer.url }, call);
    answerIn(response);
    return { kind: "done" };
  }

  function handler(operation: Operation, call: Call): Reply {
    switch (operation.kind) {
      case "send":
        return send(operation, call);
      case "card":
        return operation.extended ? refused("card_not_configured") : Promise.resolve({ kind: "card", card: peer.card });
      case "ping":
        return ping(call);
      default:
        return refused(operation.kind.startsWith("push.") ? "push_unsupported" : "unsupported_method");
    }
  }

  return { handler, protection: () => tlsProtection(peer.url), close: async () => undefined };
}

function refused(code: ErrorCode): Promise<never> {
  return Promise.reject(new AgentError(code, "the methods of this peer have no such operation", { sent: "no" }));
}

/** The named method, or the first that takes a text. */
function methodFor(methods: readonly DescribedMethod[], wanted: Maybe<string>): DescribedMethod {
  const found =
    wanted === undefined
      ? (methods.find(({ params }) => textParam(params) !== undefined) ?? methods[0])
      : methods.find(({ name }) => name === wanted || name.endsWith(`.${wanted}`));
  if (found !== undefined) return found;
  const names = methods.map(({ name }) => name).join(", ");
  throw new AgentError("unsupported_method", `the peer has no method ${wanted ?? "for a text"}; it has ${names.slice(0, 500)}`, {
    sent: "no",
  });
}

function textParam(params: DescribedMethod["params"]): Maybe<string> {
  const texts = params.filter(({ type }) => type === "string");
  return (texts.find(({ required }) => required) ?? texts[0])?.name;
}

/** Data of one object are the parameters by name; text is the parameter that takes one. */
function paramsFor({ name, params }: DescribedMethod, content: readonly Part[]): JsonObject {
  const data = content.find((part) => part.kind === "data");
  const text = textOf(content);
  const own = data?.kind === "data" && isObject(data.data) ? data.data : {};
  if (text === "") return own;
  const at = textParam(params) ?? (params.length === 1 ? params[0]?.name : undefined);
  if (at === undefined)
    throw new AgentError("unsupported_content", `the method ${name} takes no text: send its parameters as data`, { sent: "no" });
  return { ...own, [at]: text };
}

/** A method has its parameters and nothing else. */
function reportLosses({ content, context, metadata }: OperationOf<"send">["envelope"], call: Call): void {
  const lose = (path: string, value: unknown, reason: string): void => {
    if (value !== undefined) call.reportLoss({ protocol: PROTOCOL, path, valueKind: kindOf(value), reason });
  };
  for (const [index, part] of content.entries())
    if (part.kind === "raw" || part.kind === "url")
      lose(`message.parts[${index}]`, part, "methods of other peers take text and data");
  for (const [name, value] of Object.entries(context)) lose(`context.${name}`, value, "methods of other peers have no context");
  lose("message.metadata", metadata, "methods of other peers have no metadata");
}
