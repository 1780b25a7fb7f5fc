import { AgentError } from "../../envelope/index.js";
import type { Progress } from "./connection-problem.js";
import { http2 } from "./lazy-module.js";

/** RFC 9113 §7. */
const NAMES = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
] as const;

/** Why a stream ended before its response. `untouched`: the peer reported that it did not process the request. */
export function http2Problem(
  code: number,
  host: string,
  at: { readonly progress: Progress; readonly untouched: boolean; readonly cause: unknown },
): AgentError {
  const name = NAMES[code] ?? String(code);
  if (at.untouched || code === http2().constants.NGHTTP2_REFUSED_STREAM) {
    return new AgentError("unavailable", `${host} did not process the request (${name})`, { sent: "no", cause: at.cause });
  }
  const facts = { sent: "maybe", cause: at.cause } as const;
  if (code === http2().constants.NGHTTP2_ENHANCE_YOUR_CALM)
    return new AgentError("overloaded", `${host} asks to reduce the load (${name})`, facts);
  if (code === http2().constants.NGHTTP2_HTTP_1_1_REQUIRED)
    return new AgentError("bad_peer", `${host} requires HTTP/1.1 (${name})`, facts);
  return at.progress === "answered"
    ? new AgentError("interrupted", `${host} ended its response early (${name})`, facts)
    : new AgentError("unavailable", `${host} reset the request before it responded (${name})`, facts);
}
