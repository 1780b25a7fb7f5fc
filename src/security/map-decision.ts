import type { Awaitable } from "../envelope/index.js";
import { type AdmissionOutcome, type NeedsBody, needsBody } from "./admission.js";

/** Changes the outcome of a decision, or its refusal, whenever it is made: now, later, or with the body. */
export function mapDecision(
  decide: () => Awaitable<AdmissionOutcome | NeedsBody>,
  admitted: (outcome: AdmissionOutcome) => Awaitable<AdmissionOutcome>,
  refused: (thrown: unknown) => never = rethrow,
): Awaitable<AdmissionOutcome | NeedsBody> {
  const mapped = (decision: AdmissionOutcome | NeedsBody): Awaitable<AdmissionOutcome | NeedsBody> =>
    needsBody(decision)
      ? {
          bodyBytes: decision.bodyBytes,
          // A completed decision needs no body again.
          complete: (body) => mapDecision(() => decision.complete(body), admitted, refused) as Awaitable<AdmissionOutcome>,
        }
      : admitted(decision);
  let decision: Awaitable<AdmissionOutcome | NeedsBody>;
  try {
    decision = decide();
  } catch (thrown) {
    return refused(thrown);
  }
  return decision instanceof Promise ? decision.then(mapped, refused) : mapped(decision);
}

function rethrow(thrown: unknown): never {
  throw thrown;
}
