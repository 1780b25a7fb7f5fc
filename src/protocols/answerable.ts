import { AgentError } from "../envelope/index.js";
import { blame } from "../transport/fields.js";
import type { Host } from "./protocol.js";

/** Converts a thrown value to the error for the caller. Unexpected errors are reported to the host; the caller gets no details. */
export function answerable(host: Pick<Host, "fault">, thrown: unknown): AgentError {
  const error = blame(thrown, "invalid_message");
  if (error.code === "internal" && !(thrown instanceof AgentError)) host.fault(thrown);
  return error;
}
