import {
  AgentError,
  type AgentEvent,
  type Card,
  isObject,
  isPromise,
  type JsonObject,
  type Maybe,
  type Via,
} from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { errorHeaders } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { v03ProtoFor } from "../codec/codec-0.3-proto.js";
import { v1 } from "../codec/codec-1.0.js";
import type { Dialect } from "../dialect.js";
import type { GrpcStatus } from "../error-tables.js";
import { grpcErrorOf } from "../errors.js";
import { SERVICES, type Version } from "../grpc/address.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, isCompressed, onlyMessage } from "../grpc/framing.js";
import { type Method, methodAt } from "../grpc/methods.js";
import { withCursor } from "../grpc/resume.js";
import { OK, writeStatus } from "../grpc/status.js";
import { readTimeout } from "../grpc/timeout.js";
import { RESUME_URI } from "../koine-extensions.js";
import { OPERATIONS } from "../operations.js";
import type { A2aSettings } from "../settings.js";
import { type Answering, answer } from "./answering.js";
import { deadlineAfter, NO_DEADLINE } from "./call-deadline.js";
import { GrpcBody } from "./grpc-body.js";
import { checkVersion, filesFor } from "./negotiate.js";
import { answerHeaders, writeAnswer } from "./write-answer.js";

const VIA_1: Via = Object.freeze({ protocol: "a2a", version: "1.0", binding: "GRPC" });
const VIA_03: Via = Object.freeze({ protocol: "a2a", version: "0.3", binding: "GRPC" });
const HEADERS = Object.freeze({ "content-type": "application/grpc+proto" });
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;

/** Answers a gRPC call. The package determines the version. The status is in the trailers, or in the headers of an empty response. */
export async function answerGrpc(
  host: Host,
  settings: A2aSettings,
  request: HttpRequest,
  addressed: GrpcAddress,
): Promise<HttpResponse> {
  const version: Version = request.path.startsWith(`${SERVICES["0.3"]}/`) ? "0.3" : "1.0";
  if (!CONTENT_TYPE.test(request.headers["content-type"] ?? "")) return notProtobuf();
  try {
    const method = methodAt(request.path);
    if (method === undefined) throw new AgentError("unsupported_method", `unknown method ${request.path.slice(0, 128)}`);
    const admitted = host.admit(request);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    checkVersion(request, version);
    if (isCompressed(request.body)) return refuseCompressed(version, settings);
    const timeoutMs = readTimeout(request.headers["grpc-timeout"]);
    const deadline = timeoutMs === undefined ? undefined : host.now() + timeoutMs;
    const [dialect, via] = version === "1.0" ? [v1, VIA_1] : [v03ProtoFor(filesFor(request, settings)), VIA_03];
    const { card, params } = agentFor(addressed, dialect, readParams(host, method, request));
    const { name } = method;
    const answering = answer(host, { request, dialect, via, card, caller, name, params, tenant: undefined, deadline });
    const call: GrpcCall = { host, settings, version, dialect, method, answering, timeoutMs };
    if (OPERATIONS[name].streaming) {
      request.forgetBody?.();
      return await writeStream(call);
    }
    const { reply } = answering;
    if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
    return writeOne(call, await (timeoutMs === undefined ? reply : withinTime(reply, timeoutMs)));
  } catch (thrown) {
    return failed(callerError(host, thrown), version, settings);
  }
}

export type AnswerGrpc = typeof answerGrpc;

/** gRPC paths cannot name an agent: metadata does, or the tenant, which clients copy from the card. */
export interface GrpcAddress {
  /** The agent that the metadata names, else the default one. */
  readonly card: Maybe<Card>;
  /** The agent of the host with this name. */
  agentOf(tenant: string): Maybe<Card>;
}

/** A tenant that names an agent is an address, and no tenant any more. */
function agentFor({ card, agentOf }: GrpcAddress, { tenantOf }: Dialect, params: JsonObject): { card: Card; params: JsonObject } {
  const tenant = tenantOf(params);
  const named = tenant === undefined ? undefined : agentOf(tenant);
  if (named !== undefined) return { card: named, params: { ...params, tenant: undefined } };
  if (card === undefined) throw new AgentError("not_found", "no agent of this host has the name in the metadata");
  return { card, params };
}

interface GrpcCall {
  readonly host: Host;
  readonly settings: A2aSettings;
  readonly version: Version;
  readonly dialect: Dialect;
  readonly method: Method;
  readonly answering: Answering;
  readonly timeoutMs: Maybe<number>;
}

function readParams({ limits }: Host, { name, request: type }: Method, { headers, body }: HttpRequest): JsonObject {
  try {
    const params = decodeMessage(type, onlyMessage(body), limits);
    if (name !== "ListTasks") return params;
    // a2a-go sets the field although its caller named no size: zero is its default, and no page is that small.
    if (params["pageSize"] === 0) delete params["pageSize"];
    // The JSON bindings have a member for this filter; protobuf has no field for it.
    const key = headers["idempotency-key"];
    return key === undefined ? params : { ...params, idempotencyKey: key };
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

function writeOne({ host, version, dialect, method, answering }: GrpcCall, event: AgentEvent): HttpResponse {
  const result = writeAnswer(host, dialect, answering, event);
  const body = encodeFrame(method.response, isObject(result) ? result : {});
  return { status: 200, headers: { ...HEADERS, ...answerHeaders(answering, version) }, body, trailers: () => OK };
}

async function withinTime(reply: Promise<AgentEvent>, timeoutMs: number): Promise<AgentEvent> {
  const deadline = deadlineAfter(timeoutMs);
  try {
    return await deadline.limit(reply);
  } finally {
    deadline.end();
  }
}

/** Waits for the first event: an earlier failure is answered with a status and no message. */
async function writeStream({ settings, version, dialect, method, answering, timeoutMs }: GrpcCall): Promise<HttpResponse> {
  const { reply, reportLoss, parameters } = answering;
  const events = isPromise(reply) ? once(reply) : reply[Symbol.asyncIterator]();
  const resumes = parameters["extensions"]?.includes(RESUME_URI) === true;
  const body = new GrpcBody({
    events,
    deadline: timeoutMs === undefined ? NO_DEADLINE : deadlineAfter(timeoutMs),
    frame(event: AgentEvent) {
      const item = dialect.encodeStreamItem(event, reportLoss);
      return encodeFrame(method.response, resumes ? withCursor(item, event) : item);
    },
    failure: (error) => trailersOf(error, version, settings),
  });
  await body.begin();
  const headers = { ...HEADERS, ...answerHeaders(answering, version) };
  return { status: 200, headers, body, trailers: () => body.trailers };
}

async function* once(reply: Promise<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
  yield await reply;
}

function failed(error: AgentError, version: Version, settings: A2aSettings): HttpResponse {
  const headers = { ...HEADERS, ...errorHeaders(error), ...trailersOf(error, version, settings) };
  return { status: 200, headers, body: undefined };
}

function trailersOf(
  error: AgentError,
  version: Version,
  { errorProfile }: A2aSettings,
  otherwise?: GrpcStatus,
): { readonly [name: string]: string } {
  const { status, message, details } = grpcErrorOf(error, version, errorProfile);
  return writeStatus(otherwise ?? status, message, details);
}

/** gRPC defines the status for this case, independent of the A2A table. */
function refuseCompressed(version: Version, settings: A2aSettings): HttpResponse {
  const error = new AgentError("unsupported_content", "compressed messages are not supported; send them uncompressed");
  const status = trailersOf(error, version, settings, "UNIMPLEMENTED");
  return { status: 200, headers: { ...HEADERS, "grpc-accept-encoding": "identity", ...status }, body: undefined };
}

/** The gRPC response to an unsupported content type. */
function notProtobuf(): HttpResponse {
  return { status: 415, headers: { "accept-post": "application/grpc" }, body: undefined };
}
