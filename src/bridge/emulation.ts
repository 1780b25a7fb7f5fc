import { AgentError, type JsonObject, type LossSink, type Maybe, type Metadata, type OperationOf } from "../envelope/index.js";
import { Relayed } from "../tasks/index.js";
import { canStream, type Upstream } from "./upstream.js";

/** What the gateway emulates for an upstream that does not support it. */
export type Emulated = "streaming" | "tasks";

/** The metadata key that lists what was emulated. */
export const EMULATED_KEY = "urn:koine:emulated:1";

const HOW: Readonly<Record<Emulated, string>> = {
  streaming: "one final event stands for the stream",
  tasks: "the gateway's own task stands for it, as a receipt",
};

/** What a caller requests and the upstream does not support. */
export function emulatedFor(upstream: Upstream, delivery: OperationOf<"send">["delivery"]): readonly Emulated[] {
  if (delivery === "answer") return NONE;
  const tasks = upstream.traits().tasks;
  if (delivery === "accepted") return tasks ? NONE : ONLY_TASKS;
  if (canStream(upstream)) return NONE;
  return tasks ? ONLY_STREAMING : BOTH;
}

const NONE: readonly Emulated[] = Object.freeze([]);
const ONLY_TASKS: readonly Emulated[] = Object.freeze(["tasks"]);
const ONLY_STREAMING: readonly Emulated[] = Object.freeze(["streaming"]);
const BOTH: readonly Emulated[] = Object.freeze(["streaming", "tasks"]);

/** The error in strict mode, which emulates nothing. */
export function emulationRefused(upstream: Upstream, delivery: OperationOf<"send">["delivery"]): Maybe<AgentError> {
  const emulated = emulatedFor(upstream, delivery);
  if (emulated.length === 0) return undefined;
  const what = emulated.join(" and ");
  return new AgentError("unsupported", `the upstream agent does not support ${what} over ${upstream.protocol()}`, {
    sent: "no",
  });
}

/** The initial metadata of a task, where something is emulated. */
export function emulationMarks(upstream: Upstream, { delivery }: OperationOf<"send">): Maybe<Metadata> {
  const emulated = emulatedFor(upstream, delivery);
  return emulated.length === 0 ? undefined : emulationNote(emulated);
}

export function reportEmulation(emulated: readonly Emulated[], upstream: Upstream, lose: LossSink): void {
  for (const what of emulated)
    lose({ protocol: upstream.protocol(), path: `operation.${what}`, valueKind: "emulated", reason: HOW[what] });
}

/** An immediate first event for a caller who gets no other until the end. */
export function receiptOf(emulated: readonly Emulated[], at: number): Relayed {
  const status = { state: "working", at } as const;
  return new Relayed([{ kind: "status", taskId: "", contextId: "", status, metadata: emulationNote(emulated) }], undefined);
}

function emulationNote(emulated: readonly Emulated[]): JsonObject {
  return { [EMULATED_KEY]: [...emulated] };
}
