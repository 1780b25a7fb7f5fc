import { AgentError } from "../../../envelope/index.js";

/** Redis error prefixes that are not caused by the request, and their messages. */
const MESSAGES: Readonly<Record<string, string>> = {
  LOADING: "the task store does not answer: Redis is still loading its data",
  READONLY: "the task store rejects writes: this Redis is a replica",
  MASTERDOWN: "the task store does not answer: this Redis has lost its primary",
  CLUSTERDOWN: "the task store does not answer: the Redis cluster is down",
  TRYAGAIN: "the task store does not answer: the Redis cluster is moving its keys",
  BUSY: "the task store does not answer: Redis is busy with a script",
  OOM: "the task store rejects writes: Redis has no memory left",
  MISCONF: "the task store rejects writes: Redis cannot write to its disk",
  NOREPLICAS: "the task store rejects writes: Redis has too few replicas",
  NOAUTH: "the task store rejects the connection: Redis requires credentials",
  WRONGPASS: "the task store rejects the connection: Redis does not accept the credentials",
  NOPERM: "the task store rejects the connection: the credentials do not permit the required commands",
};
const UNAVAILABLE = "the task store does not answer";
/** The library's error text when there was no connection. */
const NOT_WRITTEN = "isn't writeable";

/**
 * Maps a failure of Redis to an AgentError. Only its text is kept as the cause: the library's error carries the command with
 * all its values, secrets among them.
 */
export function storeFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const cause = new Error(message);
  const sent = message.includes(NOT_WRITTEN) ? "no" : "maybe";
  if (!(thrown instanceof Error) || thrown.name !== "ReplyError")
    return new AgentError("unavailable", UNAVAILABLE, { sent, cause });
  const explained = MESSAGES[/^[A-Z]+/.exec(message)?.[0] ?? ""];
  if (explained !== undefined) return new AgentError("unavailable", explained, { cause });
  return new AgentError("internal", "the task store failed unexpectedly", { cause });
}

/** Redis does not know the script, as after a restart. */
export function isScriptUnknown(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("NOSCRIPT");
}
