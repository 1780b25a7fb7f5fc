import type { JsonObject } from "../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse, RequestHead } from "../transport/exchange.js";
import { jsonResponse } from "../transport/response.js";
import type { HealthSource } from "./host.js";
import type { Claim } from "./route-table.js";

export const HEALTH = "/health";
const READY = "/readyz";
const LIVE = "/livez";
/** Below the rank of every protocol route, so that a protocol can take over a shared path. */
export const SHARED_RANK = -100;
const NOT_CACHED = { "cache-control": "no-store" } as const;
const ALIVE = { status: "ok" } as const satisfies JsonObject;

/** The members of `/health` for a request, with the status among them. */
type HealthMembers = (request: HttpRequest, status: JsonObject) => JsonObject;

/** `/health`, and `/livez` and `/readyz` where the host has the port for itself. Callers see the status only. */
export function healthClaims({ status, probes }: HealthSource, members: HealthMembers): readonly Claim[] {
  const truthful =
    (document: HealthMembers): Exchange =>
    async (request) => {
      const found = await status();
      return healthResponse(request, found === "ok" ? 200 : 503, document(request, { status: found }));
    };
  const health = claimsAt(HEALTH, truthful(members));
  if (!probes) return health;
  const ready = truthful((_request, alone) => alone);
  return [...health, ...claimsAt(READY, ready), ...claimsAt(LIVE, (request) => healthResponse(request, 200, ALIVE))];
}

/** A request of one of these paths, also where a protocol has taken it over. */
export function isHealthRequest({ method, path }: RequestHead): boolean {
  return (method === "GET" || method === "HEAD") && (path === HEALTH || path === READY || path === LIVE);
}

function claimsAt(path: string, exchange: Exchange): readonly Claim[] {
  return ["GET", "HEAD"].map((method) => ({ owner: "shared routes", route: { method, path, rank: SHARED_RANK }, exchange }));
}

function healthResponse({ method }: HttpRequest, status: number, document: JsonObject): HttpResponse {
  const response = jsonResponse(status, JSON.stringify(document), NOT_CACHED);
  return method === "HEAD" ? { ...response, body: undefined } : response;
}
