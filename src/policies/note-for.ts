import type { Call, Maybe, Operation } from "../envelope/index.js";
import type { PolicyNote, PolicySink } from "./notes.js";
import { traceIdOf } from "./trace-id.js";

/** Towards whom a policy stands, and who hears of what it does. */
export interface PolicyContext {
  /** Configured, never taken from the wire: it is a metric label. */
  readonly destination: string;
  readonly protocol?: Maybe<string>;
  readonly notes?: Maybe<PolicySink>;
}

type OwnFields<N extends PolicyNote> = N extends PolicyNote ? Omit<N, "traceId" | "destination" | "protocol"> : never;

/** Says what was done for a call; does nothing where nobody listens. */
export function noteFor({ destination, protocol, notes }: PolicyContext) {
  return (operation: Operation, call: Call, fields: OwnFields<PolicyNote>): void => {
    if (notes === undefined) return;
    // `OwnFields` took away exactly the three members that are put back here.
    notes({ ...fields, traceId: traceIdOf(operation, call), destination, protocol } as PolicyNote);
  };
}
