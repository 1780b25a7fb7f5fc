import { AgentError } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { HEALTH_SERVICE, SERVICES } from "../grpc/address.js";
import { decodeMessage } from "../grpc/decode.js";
import { encodeFrame, isCompressed, onlyMessage } from "../grpc/framing.js";
import { compileSchema } from "../grpc/schema.js";
import { OK, writeStatus } from "../grpc/status.js";

/** grpc.health.v1: a server that answers serves. A failing upstream is reported by its calls. */
const { HealthCheckRequest, HealthCheckResponse } = compileSchema(
  {},
  { HealthCheckRequest: { service: "string 1" }, HealthCheckResponse: { status: "int32 1" } },
);
const SERVING = 1;
const REQUEST_LIMITS = { jsonDepth: 4, jsonValues: 4 };

/** The empty name is the server as a whole. */
const KNOWN: ReadonlySet<unknown> = new Set([undefined, "", ...Object.values(SERVICES).map((path) => path.slice(1))]);
const HEADERS = Object.freeze({ "content-type": "application/grpc+proto" });

/** Answers `Check`. `Watch` is unimplemented: clients then treat the server as healthy, as the protocol says. */
export function answerHealth({ path, body }: HttpRequest): HttpResponse {
  if (path !== `${HEALTH_SERVICE}/Check`) return failed("UNIMPLEMENTED", `unknown method ${path.slice(1, 129)}`);
  if (isCompressed(body)) return failed("UNIMPLEMENTED", "compressed messages are not supported");
  try {
    const { service } = decodeMessage(HealthCheckRequest, onlyMessage(body), REQUEST_LIMITS);
    if (!KNOWN.has(service)) return failed("NOT_FOUND", "unknown service");
  } catch (thrown) {
    return failed("INVALID_ARGUMENT", AgentError.from(thrown).message);
  }
  return { status: 200, headers: HEADERS, body: encodeFrame(HealthCheckResponse, { status: SERVING }), trailers: () => OK };
}

function failed(status: "UNIMPLEMENTED" | "NOT_FOUND" | "INVALID_ARGUMENT", message: string): HttpResponse {
  return { status: 200, headers: { ...HEADERS, ...writeStatus(status, message, []) }, body: undefined };
}
