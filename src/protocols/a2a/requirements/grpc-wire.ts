import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { bytesOf } from "../../../transport/body.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import type { OpenResponse, RawResponse } from "../../ask.js";
import { demand, show, skip } from "../../check.js";
import { grpcOrigin } from "../grpc/address.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, FrameReader } from "../grpc/framing.js";
import { methodOf } from "../grpc/methods.js";
import type { MessageType } from "../grpc/schema.js";
import { readStatus, statusOfHttp } from "../grpc/status.js";
import type { OperationName } from "../operations.js";
import { type Form, MODERN_FORM, OLD_PROTO_FORM } from "./forms.js";
import type { Answer, Streaming, Wire } from "./wire.js";
import { type ObservedError, seeGrpcError, showError } from "./wire-errors.js";

/** `te: trailers` tells a gRPC server that trailers are read. */
const HEADERS = { "content-type": "application/grpc", te: "trailers" };
const MODERN_HEADERS = { ...HEADERS, "a2a-version": "1.0" };
/** Above the depth of any response. */
const ANSWER_LIMITS = { jsonDepth: 100, jsonValues: DEFAULT_LIMITS.jsonValues } as const;
const NOTHING = new Uint8Array(0);

/** The error in the trailers, or in the headers of an empty response. Undefined for a successful call. */
function errorOf(got: Pick<RawResponse, "status" | "headers" | "trailers">): Maybe<ObservedError> {
  const status = readStatus(got.trailers) ?? readStatus(got.headers);
  if (status === undefined && got.status !== 200) return seeGrpcError(httpRefusal(got.status), got.status);
  demand(status !== undefined, `the answer has no gRPC status: HTTP ${got.status}, ${show(got.headers["content-type"])}`);
  return status.status === "OK" ? undefined : seeGrpcError(status, got.status);
}

/** The response did not come from a gRPC server. */
function httpRefusal(status: number): { readonly status: string; readonly message: string; readonly details: [] } {
  return { status: statusOfHttp(status) ?? "UNKNOWN", message: `HTTP ${status}`, details: [] };
}

/** A unary response: an error, or exactly one message. */
function readUnary(got: RawResponse, type: MessageType): Answer {
  const error = errorOf(got);
  // A readable form, for checks that search the text.
  if (error !== undefined) return { got: { ...got, text: JSON.stringify(error.raw) }, result: undefined, error };
  const messages: JsonObject[] = [];
  const reader = new FrameReader(DEFAULT_LIMITS.bodyBytes);
  reader.push(got.bytes, (message) => void messages.push(decodeMessage(type, message, ANSWER_LIMITS)));
  demand(!reader.isMidway, "the answer ends inside a message");
  demand(messages.length === 1, `one message is expected, ${messages.length} came`);
  const [result = {}] = messages;
  return { got: { ...got, text: JSON.stringify(result) }, result, error: undefined };
}

/** A call that fails before its first message is not a stream, whether reported in headers or trailers. */
async function listen(opened: OpenResponse, type: MessageType): Promise<Streaming> {
  const results = messagesOf(opened, type);
  const first = await results.next();
  if (first.done !== true) return { plain: undefined, results: startingWith(first.value, results) };
  const { error, got } = first.value;
  demand(error !== undefined, "the stream succeeded without a message");
  return { plain: { got, result: undefined, error }, results };
}

interface End {
  readonly got: RawResponse;
  readonly error: Maybe<ObservedError>;
}

/** The messages of a stream. An error after the first throws; an error instead of it is returned. */
async function* messagesOf(opened: OpenResponse, type: MessageType): AsyncGenerator<JsonObject, End> {
  const { status, headers } = opened;
  const waiting: Uint8Array[] = [];
  const reader = new FrameReader(DEFAULT_LIMITS.sseEventBytes);
  let count = 0;
  for await (const chunk of opened.chunks) {
    reader.push(bytesOf(chunk), (message) => void waiting.push(message));
    count += waiting.length;
    for (const message of waiting.splice(0)) yield decodeMessage(type, message, ANSWER_LIMITS);
  }
  demand(!reader.isMidway, "the stream ends inside a message");
  const trailers = opened.trailers();
  const error = errorOf({ status, headers, trailers });
  demand(error === undefined || count === 0, `the stream broke: ${error === undefined ? "" : showError(error)}`);
  return { got: { status, headers, trailers, bytes: NOTHING, text: JSON.stringify(error?.raw ?? null), json: undefined }, error };
}

async function* startingWith(first: unknown, rest: AsyncGenerator<unknown>): AsyncGenerator<unknown> {
  yield first;
  yield* rest;
}

function grpcWire(
  version: Wire["version"],
  form: Form,
  adapt: (operation: OperationName, params: JsonObject) => JsonObject,
): Wire {
  const responseOf = (operation: OperationName): MessageType =>
    methodOf(version, operation)?.response ?? skip(`${version} has no ${operation} on GRPC`);
  return {
    version,
    binding: "GRPC",
    name: `${version}:grpc`,
    form,
    locate: grpcOrigin,
    write(at, operation, params) {
      const method = methodOf(version, operation);
      if (method === undefined) return undefined;
      const addressed = at.tenant === undefined ? params : { tenant: at.tenant, ...params };
      const body = encodeFrame(method.request, adapt(operation, addressed));
      return { method: "POST", url: at.url + method.path, body, headers: version === "1.0" ? MODERN_HEADERS : HEADERS };
    },
    read(got, _id, operation) {
      const answer = readUnary(got, responseOf(operation));
      return operation.startsWith("List") && isObject(answer.result) ? { ...answer, result: withLists(answer.result) } : answer;
    },
    listen: (opened, _id, operation) => listen(opened, responseOf(operation)),
  };
}

/** Protobuf does not distinguish empty lists from absent ones; JSON requires these two. */
function withLists(page: JsonObject): JsonObject {
  return "nextPageToken" in page && "totalSize" in page ? { tasks: [], ...page } : { configs: [], ...page };
}

/** a2a.v1, the package of 0.3: tasks and configs are named resources. */
function named(operation: OperationName, params: JsonObject): JsonObject {
  const { taskId, id, ...rest } = params;
  const config = `tasks/${taskId}/pushNotificationConfigs/${id ?? ""}`;
  switch (operation) {
    case "CreateTaskPushNotificationConfig":
      return {
        parent: `tasks/${taskId}`,
        configId: id ?? "",
        config: { name: config, pushNotificationConfig: { id, ...rest } },
      };
    case "GetTaskPushNotificationConfig":
    case "DeleteTaskPushNotificationConfig":
      return { name: config };
    case "ListTaskPushNotificationConfigs":
      return { parent: `tasks/${taskId}` };
    default:
      return id === undefined ? params : { ...params, name: `tasks/${id}` };
  }
}

export const MODERN_GRPC: Wire = grpcWire("1.0", MODERN_FORM, (_operation, params) => params);
export const OLD_GRPC: Wire = grpcWire("0.3", OLD_PROTO_FORM, named);
