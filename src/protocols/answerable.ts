import { AgentError } from "../envelope/index.js";
import { blame } from "../transport/fields.js";
import type { Host } from "./protocol.js";

/** What is to be answered for whatever was thrown. What nobody throws on purpose is told to the host: callers hear no more of it. */
export function answerable(host: Pick<Host, "fault">, thrown: unknown): AgentError {
  const error = blame(thrown, "invalid_message");
  if (error.code === "internal" && !(thrown instanceof AgentError)) host.fault(thrown);
  return error;
}
