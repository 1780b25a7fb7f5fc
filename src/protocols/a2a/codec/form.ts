import type { JsonObject, LossSink, Part, State } from "../../../envelope/index.js";

/**
 * The differences between the three JSON forms of A2A. The codecs of message, status, artifact and task are written once in terms
 * of it.
 */
export interface Form {
  /** Set if objects are distinguished by a `kind` member. */
  readonly kinds: boolean;
  /** The member of a message that holds its parts. */
  readonly content: "parts" | "content";
  /** 0.3: status events have a `final` flag. */
  readonly final: boolean;
  readonly userRole: string;
  readonly agentRole: string;
  readRole(value: unknown, path: string): "user" | "agent";
  readState(value: unknown, path: string): State;
  writeState(state: State, reportLoss: LossSink): string;
  readPart(value: unknown, path: string, reportLoss: LossSink): Part;
  writePart(part: Part, path: string, reportLoss: LossSink): JsonObject;
}
