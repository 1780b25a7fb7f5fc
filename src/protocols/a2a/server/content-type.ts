import { AgentError } from "../../../envelope/index.js";
import type { Request } from "../../../transport/exchange.js";

/** `application/a2a+json` since 1.0.1, `application/json` before; we read either, with any parameters. A body without a type is taken for JSON. */
export function requireJson(request: Request): void {
  const type = request.headers["content-type"];
  if (type === undefined || type === "application/json") return;
  const media = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (media === "application/json" || media === "application/a2a+json") return;
  throw new AgentError(
    "unsupported_content",
    `the body must be application/json or application/a2a+json, not ${JSON.stringify(media.slice(0, 64))}`,
    {
      field: "content-type",
    },
  );
}

/** The media type of a REST answer: `application/json`, which every client reads, unless the caller asks for the newer name. */
export function restMediaType(request: Request): "application/a2a+json" | "application/json" {
  return request.headers["accept"]?.includes("application/a2a+json") === true ? "application/a2a+json" : "application/json";
}
