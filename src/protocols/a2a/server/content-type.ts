import { requireBodyType } from "../../../transport/content-type.js";
import type { HttpRequest } from "../../../transport/exchange.js";

/** `application/a2a+json` since 1.0.1, `application/json` before; both are accepted. */
const BODY_TYPES = ["application/json", "application/a2a+json"] as const;

export function requireJson(request: HttpRequest): void {
  requireBodyType(request, BODY_TYPES);
}

/**
 * The media type of a REST response: `application/json`, which every client accepts, unless the caller requests the newer one.
 */
export function restMediaType(request: HttpRequest): "application/a2a+json" | "application/json" {
  return request.headers["accept"]?.includes("application/a2a+json") === true ? "application/a2a+json" : "application/json";
}
