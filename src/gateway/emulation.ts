import { AgentError, type JsonObject, type LossSink, type OperationOf } from "../envelope/index.js";
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
export function refuseEmulation(emulated: readonly Emulated[], upstream: Upstream): void {
  if (emulated.length === 0) return;
  const what = emulated.join(" and ");
  throw new AgentError("unsupported", `the agent behind this gateway has no ${what} over ${upstream.protocol()}`, { sent: "no" });
}

/** Said to whoever keeps account of losses. */
export function tellEmulation(emulated: readonly Emulated[], upstream: Upstream, lose: LossSink): void {
  for (const what of emulated)
    lose({ protocol: upstream.protocol(), path: `operation.${what}`, valueKind: "emulated", reason: HOW[what] });
}

export function emulationNote(emulated: readonly Emulated[]): JsonObject {
  return { [EMULATED_KEY]: [...emulated] };
}
