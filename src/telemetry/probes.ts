import { type Call, type Operation, receivedProbes } from "../envelope/index.js";

/** Operations by which protocols check a connection. They do no work. */
const CHECKING: ReadonlySet<Operation["kind"]> = new Set(["ping", "card", "task.get", "session.close"]);

/** Whether a received call only checks the connection: a ping, or a call that its sender marked. Such calls are not counted. */
export function isCheck({ kind }: Operation, call: Call): boolean {
  if (kind === "ping") return true;
  const probe = receivedProbes.of(call);
  if (probe === undefined) return false;
  // The mark is the caller's word: it hides nothing that does work.
  if (!CHECKING.has(kind)) probe.acts = true;
  return !probe.acts;
}

/** Whether the bytes of a received call are those of a check. Known once the call was handled. */
export function isCheckTraffic(call: Call): boolean {
  return receivedProbes.of(call)?.acts === false;
}
