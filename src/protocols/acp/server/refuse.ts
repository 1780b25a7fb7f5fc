import { AgentError } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { errorStatus, wireErrorOf } from "../errors.js";

/** The error response in ACP format. */
export function refuse(error: AgentError): HttpResponse {
  return jsonResponse(errorStatus(error), JSON.stringify(wireErrorOf(error)), errorHeaders(error));
}

export function methodNotAllowed(request: HttpRequest, allow: readonly string[]): HttpResponse {
  const error = new AgentError("unsupported_method", `${request.method} is not answered here; try ${allow.join(", ")}`);
  return jsonResponse(405, JSON.stringify(wireErrorOf(error)), { allow: allow.join(", ") });
}

export function nobodyHere(request: HttpRequest): HttpResponse {
  return refuse(new AgentError("not_found", `nothing answers ${request.method} ${request.path}`));
}
