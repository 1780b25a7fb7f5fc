import { type Context, type Envelope, isProtected, type Maybe, type OperationOf } from "../envelope/index.js";
import { extraWithHops } from "../policies/hops.js";
import type { IncomingMessage, TaskContext } from "../tasks/index.js";
import type { AdoptContext } from "./adopt-context.js";
import type { AdoptedState } from "./adopted-state.js";
import { upstreamDelivery } from "./upstream.js";

/** What a turn knows beside its message. */
export interface TurnFacts {
  /** The upstream task of an earlier turn. */
  readonly state: Maybe<AdoptedState>;
  reportMember(path: string, valueKind: string, reason: string): void;
}

/** The caller's message as the upstream receives it: with names of the gateway instead of those of callers. */
export function upstreamSend(
  gateway: AdoptContext,
  message: IncomingMessage,
  { owner, sessionId, outputModes, call, delivery, id, turn }: TaskContext,
  { state, reportMember }: TurnFacts,
): OperationOf<"send"> {
  const { upstream, pseudonymize, ids, shares } = gateway;
  const { ts, src, dst, intent, role, content, context, meta, references, extensions, metadata, proofs, extra } = message;
  if (references !== undefined)
    reportMember("message.references", "array", "task ids of the gateway differ from those of the upstream");
  const ownKey = upstream.card().capabilities.idempotentSend && id !== undefined ? `${id} ${turn}` : undefined;
  const key = context.idempotencyKey ?? ownKey;
  const envelope: Envelope = {
    id: isProtected(message) ? message.id : ids.newId(), // signatures and associated data cover the author's id
    ts,
    // The upstream can tell callers apart, and does not learn who they are.
    src: src === "" ? "" : callerName(gateway, owner, src),
    dst,
    intent,
    role,
    content,
    context: upstreamContext(context, {
      idempotencyKey: key && pseudonymize(owner, "key", key),
      sessionId: state?.contextId ?? pseudonymize(owner, "session", sessionId),
      taskId: state?.taskId,
    }),
    meta: meta.claimedSrc === undefined ? meta : { ...meta, claimedSrc: undefined },
    references: undefined,
    extensions,
    metadata,
    proofs,
    extra: extraWithHops(extra, (call?.hops ?? 0) + 1),
  };
  const needs = { key: context.idempotencyKey !== undefined, taskId: shares.leavesWork(owner) };
  return {
    kind: "send",
    envelope,
    delivery: upstreamDelivery(delivery, upstream, needs),
    task: "auto",
    outputModes: outputModes.length === 0 ? undefined : outputModes,
  };
}

/** Member by member: a spread costs several times as much, and so does everybody who reads its result. */
function upstreamContext(
  { traceId, parentId, priority, ttlMs, stream, artifactRefs, tags, minVersion, maxVersion }: Context,
  { idempotencyKey, sessionId, taskId }: Pick<Context, "idempotencyKey" | "sessionId" | "taskId">,
): { readonly [Member in keyof Required<Context>]: Context[Member] } {
  return {
    traceId,
    parentId,
    idempotencyKey,
    sessionId,
    taskId,
    priority,
    ttlMs,
    stream,
    artifactRefs,
    tags,
    minVersion,
    maxVersion,
  };
}

function callerName({ callerNames, pseudonymize }: AdoptContext, owner: string, src: string): string {
  const known = callerNames.get(owner);
  if (known?.src === src) return known.pseudonym;
  const pseudonym = pseudonymize(owner, "src", src);
  callerNames.set(owner, { src, pseudonym });
  return pseudonym;
}
