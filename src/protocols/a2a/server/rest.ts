import { AgentError, type Card, isObject, isPromise, type JsonObject, type Maybe, type Via } from "../../../envelope/index.js";
import { decodeSegment } from "../../../transport/address-parts.js";
import { type StreamForm, streamResponse } from "../../../transport/event-stream.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { errorHeaders } from "../../../transport/response.js";
import { encodeSse, encodeSseLine } from "../../../transport/sse.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { v03ProtoFor } from "../codec/codec-0.3-proto.js";
import { v1 } from "../codec/codec-1.0.js";
import type { Dialect } from "../dialect.js";
import { restErrorOf } from "../errors.js";
import { OPERATIONS } from "../operations.js";
import type { A2aSettings } from "../settings.js";
import { type Answering, answer } from "./answering.js";
import { requireJson, restMediaType } from "./content-type.js";
import { checkVersion, filesFor } from "./negotiate.js";
import { matchRest, type RestOperation, restParams } from "./rest-paths.js";
import { answerHeaders, answerText, streamText } from "./write-answer.js";

const VIA_1: Via = Object.freeze({ protocol: "a2a", version: "1.0", binding: "HTTP+JSON" });
const VIA_03: Via = Object.freeze({ protocol: "a2a", version: "0.3", binding: "HTTP+JSON" });

/** A parsed path below the interface address. */
export interface RestAddress {
  readonly card: Card;
  readonly version: Dialect["version"];
  /** Percent-encoded, as in the path. */
  readonly tenant: Maybe<string>;
  readonly segments: readonly string[];
}

/** One REST request to one agent. The path determines the version: 0.3 is below `/v1`. */
export async function answerRest(
  host: Host,
  settings: A2aSettings,
  request: HttpRequest,
  address: RestAddress,
): Promise<HttpResponse> {
  const dialect = address.version === "1.0" ? v1 : v03ProtoFor(filesFor(request, settings));
  try {
    const matched = matchRest(request.method, address.segments);
    if (matched === undefined) throw new AgentError("not_found", `No route for ${request.method} ${request.path}`);
    if ("allow" in matched) return methodNotAllowed(request, matched.allow, dialect, settings);
    const admitted = host.admit(request);
    const caller = admitted instanceof Promise ? await admitted : admitted;
    checkVersion(request, dialect.version);
    if (matched.from !== "query") requireJson(request);
    const via = dialect.version === "1.0" ? VIA_1 : VIA_03;
    const { card } = address;
    const tenant = address.tenant === undefined ? undefined : decodeSegment(address.tenant);
    const params = readParams(request, matched);
    const answering = answer(host, { request, dialect, via, card, caller, name: matched.name, params, tenant });
    return await write(host, settings, request, { dialect, matched, answering });
  } catch (thrown) {
    return writeError(callerError(host, thrown), request, dialect, settings);
  }
}

function readParams(request: HttpRequest, matched: RestOperation): unknown {
  try {
    return restParams(request, matched);
  } catch (thrown) {
    throw blame(thrown, "invalid_message");
  }
}

interface Writing {
  readonly dialect: Dialect;
  readonly matched: RestOperation;
  readonly answering: Answering;
}

async function write(
  host: Host,
  settings: A2aSettings,
  request: HttpRequest,
  { dialect, matched, answering }: Writing,
): Promise<HttpResponse> {
  const { reply, reportLoss } = answering;
  const extra = answerHeaders(answering, dialect.version);
  if (OPERATIONS[matched.name].streaming) {
    request.forgetBody?.();
    const form: StreamForm = {
      encode: encodeSseLine,
      event: (event) => streamText(dialect, event, reportLoss),
      failure: (error) =>
        encodeSse(JSON.stringify(restErrorOf(error, dialect.version, settings.errorProfile).body), undefined, "error"),
    };
    return streamResponse(reply, form, host.limits, extra);
  }
  if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
  const body = answerText(host, dialect, answering, await reply);
  // Responses are specific to the caller, and shared caches may not recognize the credentials.
  const headers =
    request.method === "GET"
      ? { "content-type": restMediaType(request), "cache-control": "no-store" }
      : { "content-type": restMediaType(request) };
  return { status: 200, headers: extra === undefined ? headers : { ...headers, ...extra }, body };
}

function writeError(error: AgentError, request: HttpRequest, dialect: Dialect, settings: A2aSettings): HttpResponse {
  const { status, body } = restErrorOf(error, dialect.version, settings.errorProfile);
  return { status, headers: { "content-type": restMediaType(request), ...errorHeaders(error) }, body: JSON.stringify(body) };
}

function methodNotAllowed(request: HttpRequest, allow: readonly string[], dialect: Dialect, settings: A2aSettings): HttpResponse {
  const error = new AgentError(
    "unsupported_method",
    `${request.method} is not allowed at ${request.path}; use ${allow.join(" or ")}`,
  );
  const { body } = restErrorOf(error, dialect.version, settings.errorProfile);
  const headers = { "content-type": restMediaType(request), allow: allow.join(", ") };
  return { status: 405, headers, body: JSON.stringify(withStatus(body, 405)) };
}

/** 1.0 repeats the HTTP status inside the body (§11.6). */
function withStatus(body: JsonObject, status: number): JsonObject {
  return isObject(body["error"]) ? { ...body, error: { ...body["error"], code: status } } : body;
}
