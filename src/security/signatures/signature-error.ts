import { AgentError } from "../../envelope/index.js";

/** Why a signed message is refused. */
export type SignatureProblem =
  /** There is no signature, or none that the profile asks for. */
  | "missing"
  /** The signature fields are not what RFC 9421 defines. */
  | "malformed"
  | "too_large"
  /** Several signatures, and nothing says which one counts. */
  | "ambiguous"
  | "duplicate_label"
  | "duplicate_component"
  /** A component or a component parameter that is not defined, or not for this message. */
  | "unknown_component"
  /** The message does not have the component. */
  | "absent_component"
  /** Less is covered than the profile demands. */
  | "coverage"
  | "missing_parameter"
  /** A date that is no whole second, negative, or longer than the profile allows. */
  | "bad_time"
  | "expired"
  | "not_yet_valid"
  /** The algorithm is not that of the key, or not allowed. */
  | "algorithm"
  | "unknown_key"
  /** The signature does not verify. */
  | "wrong"
  | "digest_missing"
  | "digest_mismatch"
  | "replayed";

/** A refused signature: `bad_signature`, or `replayed`. The message names what is wrong and repeats nothing secret. */
export class SignatureError extends AgentError {
  readonly problem: SignatureProblem;

  constructor(problem: SignatureProblem, message: string) {
    super(problem === "replayed" ? "replayed" : "bad_signature", message, { detail: { signature: problem } });
    this.problem = problem;
  }
}
