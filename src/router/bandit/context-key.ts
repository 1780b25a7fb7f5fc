import type { CapabilityId } from "../../protocols/features.js";
import { hashOf } from "./hash.js";

/** What links have in common that may be judged by the same evidence. */
export interface LinkKind {
  /** What decided for which protocols are feasible. */
  readonly capabilities: readonly CapabilityId[];
  /** Which peers count as alike: the class of the address, a host, a region. */
  readonly peer: string;
}

/** The longest context that is kept as it is written. */
export const CONTEXT_CHARACTERS = 200;
/** How much of a longer one can still be read. */
const READABLE_CHARACTERS = 80;
const PLAIN = /^[a-z0-9.:+_|/-]+$/;
const NOT_PLAIN = /[^a-z0-9.:+_|/-]/g;

/** The context of a link as one word. Neither order nor repetition of capabilities changes it. */
export function contextKey({ capabilities, peer }: LinkKind): string {
  // The capabilities come first: none of them contains a bar, whatever the peer is called.
  return boundedContext(`${[...new Set(capabilities)].sort().join("+")}|${peer}`);
}

/** A context that can be the name of a record: short, and in few letters. What is anything else is cut and gets a hash of the whole. */
export function boundedContext(context: string): string {
  if (context.length <= CONTEXT_CHARACTERS && PLAIN.test(context)) return context;
  const [first, second] = hashOf(context);
  const readable = context.slice(0, READABLE_CHARACTERS).toLowerCase().replace(NOT_PLAIN, "_");
  // No plain context has a tilde, so that no two can meet here.
  return `${readable}~${hex(first)}${hex(second)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, "0");
}
