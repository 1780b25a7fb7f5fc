import {
  type AgentEvent,
  type Call,
  isPromise,
  type Layer,
  type Maybe,
  type OperationOf,
  type Reply,
} from "../../../envelope/index.js";
import { SageError } from "../errors.js";
import { parseSageDid } from "../identity/did-sage.js";
import { ownProof } from "../message/message-proof.js";
import { PROTOCOL } from "../wire.js";
import type { SeenPeers } from "./seen-peers.js";

/**
 * A layer of a server: callers that once used SAGE must use it. What arrives without, under the name of such a caller, was stripped of it
 * or is not by it.
 */
export function requireSeenPeers(seen: SeenPeers): Layer {
  return (handler) => (operation, call) => {
    if (operation.kind !== "send") return handler(operation, call);
    const decided = decide(seen, operation, call);
    return operation.delivery === "stream"
      ? after(decided, () => handler(operation, call))
      : answerAfter(decided, () => handler(operation, call));
  };
}

async function decide(seen: SeenPeers, { envelope }: OperationOf<"send">, { via, caller }: Call): Promise<void> {
  const did = caller.scheme === "did" ? caller.id : undefined;
  const author = ownProof(envelope)?.signer ?? (via.protocol === PROTOCOL ? did : undefined);
  if (author !== undefined) {
    await seen.add(author);
    return;
  }
  for (const claimed of [did, envelope.src, envelope.meta.claimedSrc]) await refuseSeen(seen, claimed);
}

async function refuseSeen(seen: SeenPeers, claimed: Maybe<string>): Promise<void> {
  if (claimed === undefined || parseSageDid(claimed) === undefined || !(await seen.has(claimed))) return;
  throw new SageError("policy_denied", `${claimed} uses SAGE, and this message came without`);
}

async function answerAfter(decided: Promise<void>, run: () => Reply): Promise<AgentEvent> {
  await decided;
  const reply = run();
  if (isPromise(reply)) return reply;
  let last: Maybe<AgentEvent>;
  for await (const event of reply) last = event;
  return last as AgentEvent; // a stream of an answer has a last event
}

async function* after(decided: Promise<void>, run: () => Reply): AsyncGenerator<AgentEvent, void, void> {
  await decided;
  const reply = run();
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}
