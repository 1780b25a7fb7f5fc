import type { Envelope, LossSink } from "../../../envelope/index.js";

/** The members of an envelope that only `metadata.envelope` can carry, by their paths. */
const MEMBERS: readonly (readonly [path: string, of: (envelope: Envelope) => unknown])[] = [
  ["message.references", ({ references }) => references],
  ["message.extensions", ({ extensions }) => extensions],
  ["message.metadata", ({ metadata }) => metadata],
  ["message.proofs", ({ proofs }) => proofs],
  ["message.extra", ({ extra }) => extra],
  ["message.meta.protocolHint", ({ meta }) => meta.protocolHint],
  ["message.meta.retryCount", ({ meta }) => meta.retryCount],
  ["message.context.priority", ({ context }) => context.priority],
  ["message.context.ttlMs", ({ context }) => context.ttlMs],
  ["message.context.stream", ({ context }) => context.stream],
  ["message.context.artifactRefs", ({ context }) => context.artifactRefs],
  ["message.context.tags", ({ context }) => context.tags],
  ["message.context.minVersion", ({ context }) => context.minVersion],
  ["message.context.maxVersion", ({ context }) => context.maxVersion],
];

/** The paths declared as lost towards peers that do not run Koine. */
export const MEMBER_PATHS: readonly string[] = [
  ...MEMBERS.map(([path]) => path),
  "message.intent",
  "message.context.parentId",
  "message.context.taskId",
];

/** Whether the envelope has members that neither the body nor the plain members carry. Content is not considered. */
export function hasMore(envelope: Envelope, withIntent: boolean): boolean {
  const { meta, context } = envelope;
  return (
    (withIntent && envelope.intent !== "") ||
    (envelope.role === "user" && (context.parentId !== undefined || context.taskId !== undefined)) ||
    envelope.references !== undefined ||
    envelope.extensions !== undefined ||
    envelope.metadata !== undefined ||
    envelope.proofs !== undefined ||
    envelope.extra !== undefined ||
    meta.protocolHint !== undefined ||
    meta.retryCount !== undefined ||
    context.priority !== undefined ||
    context.ttlMs !== undefined ||
    context.stream !== undefined ||
    context.artifactRefs !== undefined ||
    context.tags !== undefined ||
    context.minVersion !== undefined ||
    context.maxVersion !== undefined
  );
}

/** Reports the members that are lost for peers that read only the official ones. */
export function reportMemberLosses(envelope: Envelope, withIntent: boolean, reportLoss: LossSink): void {
  const say = (path: string, value: unknown): void => {
    if (value === undefined) return;
    reportLoss({ protocol: "agora", path, valueKind: typeof value, reason: "Agora has no member for it" });
  };
  for (const [path, of] of MEMBERS) say(path, of(envelope));
  if (withIntent && envelope.intent !== "") say("message.intent", envelope.intent);
  if (envelope.role !== "user") return;
  say("message.context.parentId", envelope.context.parentId);
  say("message.context.taskId", envelope.context.taskId);
}
