import {
  AgentError,
  type AgentEvent,
  type Card,
  type ErrorCode,
  isPromise,
  type LossSink,
  type Maybe,
  type Principal,
  type Via,
} from "../../../envelope/index.js";
import { type StreamForm, streamResponse, wantsEvents } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { encodeRpcError, INVALID_REQUEST, type RpcId, readRpcRequest, rpcResultStart } from "../../../transport/json-rpc.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { type EncodeSse, encodeSse, sseLineEncoder } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { v03 } from "../codec/codec-0.3.js";
import { isMixed, v03Mixed } from "../codec/codec-0.3-mixed.js";
import { v1 } from "../codec/codec-1.0.js";
import type { Dialect } from "../dialect.js";
import { rpcErrorOf } from "../errors.js";
import { OPERATIONS, type OperationName } from "../operations.js";
import { type Answering, answer, checkParams, type DecodedRequest } from "./answering.js";
import { requireJson } from "./content-type.js";
import { extensionHeaders } from "./extensions.js";
import { checkVersion, requestedVersion, versionNotSupported } from "./negotiate.js";
import { answerHeaders, answerText, streamText } from "./write-answer.js";

interface MethodEntry {
  readonly name: OperationName;
  readonly dialect: Dialect;
  readonly via: Via;
}

const VIA_1: Via = Object.freeze({ protocol: "a2a", version: "1.0", binding: "JSONRPC" });
const VIA_03: Via = Object.freeze({ protocol: "a2a", version: "0.3", binding: "JSONRPC" });

/** Both grammars in one table: a slash-style name and a capitalised one cannot collide (wire §17.1). */
const METHODS: ReadonlyMap<string, MethodEntry> = new Map([
  ...Object.keys(OPERATIONS).map((name): [string, MethodEntry] => [
    name,
    { name: name as OperationName, dialect: v1, via: VIA_1 },
  ]),
  // The release candidate and the seed write the list method in the singular (C9).
  ["ListTaskPushNotificationConfig", { name: "ListTaskPushNotificationConfigs", dialect: v1, via: VIA_1 }],
  ...Object.entries(OPERATIONS).flatMap(([name, { v03: method }]): [string, MethodEntry][] =>
    method === undefined ? [] : [[method, { name: name as OperationName, dialect: v03, via: VIA_03 }]],
  ),
]);

/** One JSON-RPC request to one agent, in either version. */
export async function answerJsonRpc(host: Host, card: Card, request: HttpRequest, tenant: Maybe<string>): Promise<HttpResponse> {
  let id: RpcId = null;
  let version: Dialect["version"] = "1.0";
  let streaming = false;
  try {
    const admitted = host.admit(request);
    const caller: Principal = admitted instanceof Promise ? await admitted : admitted;
    requireJson(request);
    const rpc = readRpcRequest(request, { notifications: true });
    if (rpc.kind === "fault") return jsonResponse(200, encodeRpcError(rpc.id, rpc));
    id = rpc.id ?? null;
    const method = METHODS.get(rpc.method);
    if (method === undefined) throw unknownMethod(request, rpc.method);
    version = method.dialect.version;
    checkVersion(request, version);
    const { name, via } = method;
    const dialect = method.dialect === v03 && isMixed(rpc.params) ? v03Mixed : method.dialect;
    streaming = OPERATIONS[name].streaming;
    const decodedRequest: DecodedRequest = { request, card, caller, tenant, params: rpc.params, name, dialect, via };
    if (rpc.id === undefined) return refuseNotification(host, decodedRequest);
    const answering = answer(host, decodedRequest);
    if (streaming) {
      request.forgetBody?.();
      return await writeStream(host, id, dialect, answering);
    }
    const { reply } = answering;
    if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
    const result = answerText(host, dialect, answering, await reply);
    return jsonResponse(200, `${rpcResultStart(id)}${result}}`, answerHeaders(answering, version));
  } catch (thrown) {
    const error = callerError(host, thrown);
    if (streaming && version === "0.3" && wantsEvents(request)) return writeStreamError(error, id);
    return writeError(error, id, version);
  }
}

/** A2A has no notifications. Other errors (method, version, params) are reported first. */
function refuseNotification(host: Host, decodedRequest: DecodedRequest): HttpResponse {
  checkParams(host, decodedRequest);
  const fault = { code: INVALID_REQUEST, message: "id is missing; notifications are not supported" };
  return jsonResponse(200, encodeRpcError(null, fault));
}

/** An unknown method with an unsupported version is a version error: the other version may have that method. */
function unknownMethod(request: HttpRequest, method: string): AgentError {
  const requested = requestedVersion(request);
  if (requested !== undefined && requested !== "1.0" && requested !== "0.3") return versionNotSupported(requested);
  return new AgentError("unsupported_method", `unknown method ${JSON.stringify(method.slice(0, 64))}`, { field: "method" });
}

function writeStream(
  host: Host,
  id: RpcId,
  dialect: Dialect,
  { parameters, reply, reportLoss }: Answering,
): Promise<HttpResponse> {
  const form = new RpcStreamForm(id, dialect, reportLoss);
  return streamResponse(reply, form, host.limits, extensionHeaders(parameters, dialect.version));
}

/** Every open stream keeps one: an object, and no closure for each member. */
class RpcStreamForm implements StreamForm {
  readonly encode: EncodeSse;
  readonly #id: RpcId;
  readonly #dialect: Dialect;
  readonly #reportLoss: LossSink;

  constructor(id: RpcId, dialect: Dialect, reportLoss: LossSink) {
    this.encode = sseLineEncoder(rpcResultStart(id), "}");
    this.#id = id;
    this.#dialect = dialect;
    this.#reportLoss = reportLoss;
  }

  event(event: AgentEvent): string {
    return streamText(this.#dialect, event, this.#reportLoss);
  }

  failure(error: AgentError): string {
    return encodeSse(encodeRpcError(this.#id, rpcErrorOf(error, this.#dialect.version)));
  }
}

/**
 * The specification defines no HTTP status for JSON-RPC errors. 200, except for authentication, size and overload, which HTTP
 * intermediaries must see.
 */
const HTTP_STATUS: { readonly [code in ErrorCode]?: number } = {
  unauthenticated: 401,
  forbidden: 403,
  too_large: 413,
  overloaded: 429,
  unavailable: 503,
};

/** 0.3 clients accept only events as the response of a streaming call, even for errors; 1.0 clients accept JSON (wire §17.3). */
function writeStreamError(error: AgentError, id: RpcId): HttpResponse {
  if (HTTP_STATUS[error.code] !== undefined) return writeError(error, id, "0.3");
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
  return { status: 200, headers, body: encodeSse(encodeRpcError(id, rpcErrorOf(error, "0.3"))) };
}

function writeError(error: AgentError, id: RpcId, version: Dialect["version"]): HttpResponse {
  return jsonResponse(HTTP_STATUS[error.code] ?? 200, encodeRpcError(id, rpcErrorOf(error, version)), errorHeaders(error));
}
