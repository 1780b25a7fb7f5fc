import { AgentError } from "../envelope/index.js";
import type { HttpRequest } from "./exchange.js";

/** Refuses a body of another media type. Parameters are ignored, and a missing type is accepted. */
export function requireBodyType(request: HttpRequest, types: readonly string[]): void {
  const type = request.headers["content-type"];
  if (type === undefined || type === types[0]) return;
  const media = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (types.includes(media)) return;
  throw new AgentError(
    "unsupported_content",
    `the body must be ${types.join(" or ")}, not ${JSON.stringify(media.slice(0, 64))}`,
    {
      field: "content-type",
    },
  );
}
