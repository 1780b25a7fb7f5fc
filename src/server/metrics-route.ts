import { AgentError, type Maybe } from "../envelope/index.js";
import type { ExtraRoute } from "../protocols/front.js";
import type { Telemetry } from "../telemetry/index.js";
import { errorResponse } from "../transport/response.js";

/** The HTTP status of an admission error; any other is 401. */
const METRICS_STATUS: { readonly [code: string]: number } = { not_found: 404, forbidden: 403, unavailable: 503 };

/** `/metrics` for loopback callers or for all admitted callers; none if it is not served. */
export function metricsRoute(metrics: Maybe<"loopback" | "admitted">, telemetry: Telemetry): readonly ExtraRoute[] {
  if (metrics === undefined) return [];
  const exchange: ExtraRoute["exchange"] = async (request, { admit }) => {
    try {
      if (metrics === "admitted") await admit(request);
      else if (!request.connection.loopback) throw new AgentError("not_found", `No route for ${request.method} ${request.path}`);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(METRICS_STATUS[error.code] ?? 401, error);
    }
    const { contentType, text } = telemetry.metricsPage(request.headers["accept"]);
    return { status: 200, headers: { "content-type": contentType, vary: "accept" }, body: text };
  };
  return [{ route: { method: "GET", path: "/metrics" }, exchange }];
}
