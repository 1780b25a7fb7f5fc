import { AgentError, type JsonObject, type LossSink, type Maybe, type Metadata, type OperationOf } from "../envelope/index.js";
import { canStream, type Upstream } from "./upstream.js";

/** What the gateway does in place of a peer that cannot. */
export type Emulated = "streaming" | "tasks";

/** Under this name an answer says what of it was the gateway's own doing. */
export const EMULATED_KEY = "urn:koine:emulated:1";

const HOW: Readonly<Record<Emulated, string>> = {
  streaming: "one final event stands for the stream",
  tasks: "the gateway's own task stands for it, as a receipt",
};

/** What a caller wants and the peer does not have. */
export function emulatedFor(upstream: Upstream, delivery: OperationOf<"send">["delivery"]): readonly Emulated[] {
  if (delivery === "answer") return NOTHING;
  const tasks = upstream.traits().tasks;
  if (delivery === "accepted") return tasks ? NOTHING : ONLY_TASKS;
  if (canStream(upstream)) return NOTHING;
  return tasks ? ONLY_STREAMING : BOTH;
}

const NOTHING: readonly Emulated[] = Object.freeze([]);
const ONLY_TASKS: readonly Emulated[] = Object.freeze(["tasks"]);
const ONLY_STREAMING: readonly Emulated[] = Object.freeze(["streaming"]);
const BOTH: readonly Emulated[] = Object.freeze(["streaming", "tasks"]);

/** Whoever is strict is told no instead. */
export function emulationRefused(upstream: Upstream, delivery: OperationOf<"send">["delivery"]): Maybe<AgentError> {
  const emulated = emulatedFor(upstream, delivery);
  if (emulated.length === 0) return undefined;
  const what = emulated.join(" and ");
  return new AgentError("unsupported", `the agent behind this gateway has no ${what} over ${upstream.protocol()}`, {
    sent: "no",
  });
}

/** What a task says about itself from its first moment, where the gateway stands in. */
export function emulationMarks(upstream: Upstream, { delivery }: OperationOf<"send">): Maybe<Metadata> {
  const emulated = emulatedFor(upstream, delivery);
  return emulated.length === 0 ? undefined : emulationNote(emulated);
}

/** Said to whoever keeps account of losses. */
export function reportEmulation(emulated: readonly Emulated[], upstream: Upstream, lose: LossSink): void {
  for (const what of emulated)
    lose({ protocol: upstream.protocol(), path: `operation.${what}`, valueKind: "emulated", reason: HOW[what] });
}

export function emulationNote(emulated: readonly Emulated[]): JsonObject {
  return { [EMULATED_KEY]: [...emulated] };
}
