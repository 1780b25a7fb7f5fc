import type { Context, Maybe } from "../envelope/index.js";

/** What a protocol supports on the wire. */
export interface Traits {
  readonly streaming: boolean;
  readonly tasks: boolean;
  /** A broken stream can be resumed after the last event received. */
  readonly resume: boolean;
  /** Sends with the same idempotency key are executed once. */
  readonly idempotentSend: boolean;
  /** An agent can ask for input in the middle of a task. */
  readonly inputTurns: boolean;
  readonly signed: "none" | "hop" | "end-to-end";
  readonly sealed: "none" | "hop" | "end-to-end";
  readonly binary: boolean;
  /** Carries `Envelope.proofs` and sealed parts byte for byte, or rejects the message. Without it such messages are refused. */
  readonly proofs: boolean;
  /** The context members that the protocol carries. */
  readonly carries: readonly (keyof Context)[];
}

/** Something that a protocol version cannot carry, declared in advance. */
export interface DeclaredLoss {
  readonly version: string;
  readonly path: string;
  readonly reason: string;
}

/** Traits of versions that support less than the protocol as a whole. */
export type VersionTraits = { readonly [version: string]: Maybe<Partial<Traits>> };

/** What one version of a protocol supports. */
export function traitsOf(
  { traits, versionTraits }: { readonly traits: Traits; readonly versionTraits?: Maybe<VersionTraits> },
  version: string,
): Traits {
  const own = versionTraits?.[version];
  return own === undefined ? traits : { ...traits, ...own };
}
