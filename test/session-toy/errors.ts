import { AgentError, isErrorCode } from "../../src/envelope/index.js";
import type { WireError } from "./wire.js";

/** Peer-supplied text in error messages is truncated. */
const MESSAGE_CHARACTERS = 2_000;

/** The wire uses Koine's error codes: every code has its own word. */
export function encodeError({ code, message, facts }: AgentError): WireError {
  return { code, message, field: facts.field === "" ? undefined : facts.field, retryMs: facts.retryAfterMs };
}

/** Any other code is a fault of the peer. */
export function decodeError({ code, message, field, retryMs }: WireError): AgentError {
  const text = message.slice(0, MESSAGE_CHARACTERS);
  if (!isErrorCode(code)) return new AgentError("bad_peer", `the peer reports ${code.slice(0, 100)}: ${text}`);
  return new AgentError(code, text, {
    ...(field === undefined ? undefined : { field: field.slice(0, MESSAGE_CHARACTERS) }),
    ...(retryMs === undefined ? undefined : { retryAfterMs: retryMs }),
  });
}
