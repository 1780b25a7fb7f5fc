import type { Context, Envelope, LossSink, OperationOf, Part } from "../../../envelope/index.js";
import { kindOf } from "../../../transport/fields.js";
import type { DeclaredLoss, Traits } from "../../protocol.js";
import { EVERY_CONTEXT_MEMBER } from "../../traits.js";
import { LEGACY, PLAIN, PROTOCOL } from "../wire.js";

/** What `payload.context` has members for. */
const CARRIED: readonly (keyof Context)[] = ["traceId", "sessionId", "idempotencyKey", "taskId"];
const UNCARRIED = EVERY_CONTEXT_MEMBER.filter((name) => !CARRIED.includes(name));

/** One message and its answer, in clear: neither signed nor sealed, whoever is at the other end. */
export const plainTraits: Traits = {
  streaming: false,
  tasks: false,
  resume: false,
  idempotentSend: true,
  inputTurns: false,
  signed: "none",
  sealed: "none",
  binary: false,
  proofs: false,
  carries: CARRIED,
};

const NO_MEMBER = "the plain form has no member for it";
const ANSWERS_WHEN_DONE = "the plain form answers when the work is done";
const TEXT_OR_DATA = "the plain form carries text, or one data part";

const LOST: readonly (readonly [path: string, reason: string])[] = [
  ["message.references", NO_MEMBER],
  ["message.extensions", NO_MEMBER],
  ["message.extra", NO_MEMBER],
  ["message.intent", NO_MEMBER],
  ["message.parts[]", TEXT_OR_DATA],
  ["message.parts[].name", NO_MEMBER],
  ["message.parts[].mediaType", NO_MEMBER],
  ["message.parts[].metadata", NO_MEMBER],
  ["message.meta.retryCount", NO_MEMBER],
  ...UNCARRIED.map((name) => [`context.${name}`, NO_MEMBER] as const),
  ["operation.delivery=stream", "the plain form answers once"],
  ["operation.delivery=accepted", ANSWERS_WHEN_DONE],
  ["operation.push", "the plain form has no push notifications"],
  ["operation.task", "the plain form has no task operations"],
];

/** The old session carries the same messages. */
export const plainLosses: readonly DeclaredLoss[] = [PLAIN, LEGACY].flatMap((version) =>
  LOST.map(([path, reason]) => ({ version, path, reason })),
);

const MEMBERS = ["references", "extensions", "extra"] as const;
const PART_MEMBERS = ["name", "mediaType", "metadata"] as const;

/** The plain form has no tasks to start: whoever only wants to start one waits for its end. */
export function reportDeliveryLoss({ delivery }: OperationOf<"send">, reportLoss: LossSink): void {
  if (delivery === "accepted") report("operation.delivery=accepted", delivery, ANSWERS_WHEN_DONE, reportLoss);
}

/** Reports the members of a message that the plain form does not have. */
export function reportMemberLosses(envelope: Envelope, reportLoss: LossSink): void {
  for (const name of MEMBERS) report(`message.${name}`, envelope[name], NO_MEMBER, reportLoss);
  if (envelope.intent !== "") report("message.intent", envelope.intent, NO_MEMBER, reportLoss);
  report("message.meta.retryCount", envelope.meta.retryCount, NO_MEMBER, reportLoss);
  for (const name of UNCARRIED) report(`context.${name}`, envelope.context[name], NO_MEMBER, reportLoss);
}

/** Reports the parts, and the members of parts, that are not in the one value of a message. */
export function reportPartLosses(parts: readonly Part[], carried: "text" | "data", reportLoss: LossSink): void {
  for (const [index, part] of parts.entries()) {
    const path = `message.parts[${index}]`;
    if (part.kind !== carried) report(path, part, TEXT_OR_DATA, reportLoss);
    else for (const name of PART_MEMBERS) report(`${path}.${name}`, part[name], NO_MEMBER, reportLoss);
  }
}

function report(path: string, value: unknown, reason: string, reportLoss: LossSink): void {
  if (value !== undefined) reportLoss({ protocol: PROTOCOL, path, valueKind: kindOf(value), reason });
}
