import { AgentError, type Maybe } from "../../envelope/index.js";
import type { DidDocument } from "./did-document.js";
import type { DidMethod } from "./did-method.js";

/**
 * DIDs that were seen out of use with a successor that they proved. Such a DID does not come back and does not change its successor, so
 * that whoever controls its web server cannot put the earlier document, or another one, in its place. Bounded; the oldest is dropped first.
 */
export class RetiredDids {
  readonly #successors = new Map<string, string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `bad_peer` for a document that takes back what an earlier one of the same DID proved. */
  check(document: DidDocument, method: DidMethod, now: number): void {
    const { id, deactivated, successor } = document;
    const known = this.#successors.get(id);
    if (known !== undefined && (!deactivated || successor !== known))
      throw new AgentError("bad_peer", `the document of ${id} was changed after the DID was replaced by ${known}`, {
        detail: { reason: "did_transition_conflict", successor: known },
      });
    const proved = provenSuccessor(document, method, now);
    if (typeof proved !== "string") return;
    this.#successors.delete(id);
    this.#successors.set(id, proved);
    const [oldest] = this.#successors.keys();
    if (this.#successors.size > this.#max && oldest !== undefined) this.#successors.delete(oldest);
  }
}

/** The successor that a DID out of use proves; undefined if it is in use. Why it proves none is returned as an error. */
export function provenSuccessor(document: DidDocument, method: DidMethod, now: number): Maybe<string | AgentError> {
  const { id, deactivated, successor } = document;
  if (!deactivated) return undefined;
  if (successor === undefined) return unproven(`${id} is out of use and has no successor`);
  if (method.checkSuccessor === undefined)
    return unproven(`${id} is out of use; successors of did:${method.method} are not followed, and it names ${successor}`);
  try {
    method.checkSuccessor(document, successor, now);
    return successor;
  } catch (thrown) {
    const { message } = AgentError.from(thrown);
    return unproven(`${id} is out of use, and does not prove that ${successor} is its successor: ${message}`);
  }
}

function unproven(message: string): AgentError {
  return new AgentError("bad_peer", message, { sent: "no", detail: { reason: "did_transition_invalid" } });
}
