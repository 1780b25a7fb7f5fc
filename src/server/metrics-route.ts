import { AgentError, type Maybe } from "../envelope/index.js";
import type { ExtraRoute } from "../protocols/front.js";
import type { Admission } from "../security/index.js";
import type { Telemetry } from "../telemetry/index.js";
import type { HttpRequest, HttpResponse } from "../transport/exchange.js";
import { errorResponse } from "../transport/response.js";

/** The HTTP status of an admission error; any other is 401. */
const METRICS_STATUS: { readonly [code: string]: number } = { forbidden: 403, unavailable: 503 };

interface MetricsOptions {
  readonly metrics?: Maybe<"admitted">;
  readonly admission?: Maybe<Admission>;
}

/** `/metrics` on the callers' port, for all admitted callers; none if it is not served there. */
export function metricsRoute({ metrics, admission }: MetricsOptions, telemetry: Telemetry): readonly ExtraRoute[] {
  if (metrics === undefined) return [];
  checkMetrics(metrics, admission !== undefined && admission.open !== true);
  const exchange: ExtraRoute["exchange"] = async (request, { admit }) => {
    try {
      await admit(request);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(METRICS_STATUS[error.code] ?? 401, error);
    }
    return metricsResponse(telemetry, request);
  };
  return [{ route: { method: "GET", path: "/metrics" }, exchange }];
}

/** Prometheus or OpenMetrics text, as the request accepts it. */
export function metricsResponse(telemetry: Telemetry, { headers }: HttpRequest): HttpResponse {
  const { contentType, text } = telemetry.metricsPage(headers["accept"]);
  return { status: 200, headers: { "content-type": contentType, vary: "accept" }, body: text };
}

/** Metrics describe all callers: behind a proxy the socket says nothing about who asks, so somebody must be authenticated. */
function checkMetrics(metrics: string, authenticates: boolean): void {
  const invalid = (problem: string): AgentError => new AgentError("invalid_message", problem, { field: "metrics" });
  if (metrics !== "admitted")
    throw invalid(
      `metrics: ${JSON.stringify(metrics)} is not supported: the admin listener serves /metrics, with the option admin`,
    );
  if (!authenticates)
    throw invalid(
      'metrics: "admitted" needs admission, else everybody reads them: use the admin listener, with the option admin',
    );
}
