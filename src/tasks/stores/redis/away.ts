import { AgentError } from "../../../envelope/index.js";

/** What Redis says first in an error that is not the request's fault, and what it means. */
const WORDS: Readonly<Record<string, string>> = {
  LOADING: "the task store does not answer: Redis is still loading its data",
  READONLY: "the task store takes no writes: this Redis is a replica",
  MASTERDOWN: "the task store does not answer: this Redis has lost its primary",
  CLUSTERDOWN: "the task store does not answer: the Redis cluster is down",
  TRYAGAIN: "the task store does not answer: the Redis cluster is moving its keys",
  BUSY: "the task store does not answer: Redis is busy with a script",
  OOM: "the task store takes no writes: Redis has no memory left",
  MISCONF: "the task store takes no writes: Redis cannot write to its disk",
  NOREPLICAS: "the task store takes no writes: Redis has too few replicas",
  NOAUTH: "the task store refuses us: Redis wants credentials",
  WRONGPASS: "the task store refuses us: Redis does not accept the credentials",
  NOPERM: "the task store refuses us: these credentials may not use the commands that are needed",
};
const AWAY = "the task store does not answer";
/** How the library says that there was no connection to write to. */
const NOT_WRITTEN = "isn't writeable";

/**
 * A failure of Redis as one of ours. Only its words are kept as the cause: the library's own error carries the command with
 * all its values, secrets among them.
 */
export function storeFailure(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const cause = new Error(said);
  const sent = said.includes(NOT_WRITTEN) ? "no" : "maybe";
  if (!(thrown instanceof Error) || thrown.name !== "ReplyError") return new AgentError("unavailable", AWAY, { sent, cause });
  const words = WORDS[/^[A-Z]+/.exec(said)?.[0] ?? ""];
  if (words !== undefined) return new AgentError("unavailable", words, { cause });
  return new AgentError("internal", "the task store failed unexpectedly", { cause });
}

/** Redis has forgotten a script, as it does when it starts anew. */
export function isScriptUnknown(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("NOSCRIPT");
}
