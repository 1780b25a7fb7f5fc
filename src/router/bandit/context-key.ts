import type { CapabilityId } from "../../protocols/features.js";
import { hashOf } from "./hash.js";

/** The properties by which links share evidence. */
export interface LinkKind {
  /** The capabilities that decided which protocols are feasible. */
  readonly capabilities: readonly CapabilityId[];
  /** Which peers are alike: the class of the address, a host, a region. */
  readonly peer: string;
}

/** The longest context that is kept verbatim. */
export const CONTEXT_CHARACTERS = 200;
/** The readable prefix of a longer one. */
const READABLE_CHARACTERS = 80;
const PLAIN = /^[a-z0-9.:+_|/-]+$/;
const NOT_PLAIN = /[^a-z0-9.:+_|/-]/g;

/** The context of a link as one word, independent of the order and repetition of capabilities. */
export function contextKey({ capabilities, peer }: LinkKind): string {
  // The capabilities come first: none of them contains a bar, whatever the peer's name.
  return boundedContext(`${[...new Set(capabilities)].sort().join("+")}|${peer}`);
}

/** A context as a record name: short, with few characters. Other contexts are truncated and get a hash of the whole. */
export function boundedContext(context: string): string {
  if (context.length <= CONTEXT_CHARACTERS && PLAIN.test(context)) return context;
  const [first, second] = hashOf(context);
  const readable = context.slice(0, READABLE_CHARACTERS).toLowerCase().replace(NOT_PLAIN, "_");
  // No plain context contains a tilde, so there are no collisions.
  return `${readable}~${hex(first)}${hex(second)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, "0");
}
