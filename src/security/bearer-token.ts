import { AgentError, type Maybe } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";

/** The challenge if no credential was presented. */
export const BEARER_CHALLENGE = 'Bearer realm="koine"';

/** RFC 6750 §3.1. */
export type BearerError = "invalid_token" | "insufficient_scope";

/** RFC 9110 §11.1: the scheme is case-insensitive. */
export function presentedToken({ headers }: RequestHead, maxChars: number): Maybe<string> {
  const header = headers["authorization"];
  if (header === undefined || header.length < 8 || header.length > maxChars || header.charCodeAt(6) !== 0x20) return undefined;
  const scheme = header.slice(0, 6);
  if (scheme !== "Bearer" && scheme.toLowerCase() !== "bearer") return undefined;
  return header.slice(7).trim();
}

/** Whether any bearer token is presented, even one that is too long to check. */
export function presentsBearer({ headers }: RequestHead): boolean {
  const header = headers["authorization"];
  return header !== undefined && header.slice(0, 7).toLowerCase() === "bearer ";
}

/** A refusal with its challenge; `description` is a constant without quotes. */
export function bearerRefusal(error: Maybe<BearerError>, description: string, scopes: readonly string[] = []): AgentError {
  const parameters = [BEARER_CHALLENGE];
  if (error !== undefined) parameters.push(`error="${error}"`, `error_description="${description}"`);
  if (scopes.length > 0) parameters.push(`scope="${scopes.join(" ")}"`);
  const code = error === "insufficient_scope" ? "forbidden" : "unauthenticated";
  return new AgentError(code, description, { head: { "www-authenticate": parameters.join(", ") } });
}
