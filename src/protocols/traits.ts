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

/** Traits of bindings that support less than the protocol as a whole. */
export type BindingTraits = { readonly [binding: string]: Maybe<Partial<Traits>> };

/** A protocol as far as its traits are concerned. */
export interface TraitSource {
  readonly traits: Traits;
  readonly versionTraits?: Maybe<VersionTraits>;
  readonly bindingTraits?: Maybe<BindingTraits>;
}

/** What one version of a protocol supports, over one binding if it is known. */
export function traitsOf({ traits, versionTraits, bindingTraits }: TraitSource, version: string, binding = ""): Traits {
  const ofVersion = versionTraits?.[version];
  const ofBinding = bindingTraits?.[binding];
  return ofVersion === undefined && ofBinding === undefined ? traits : { ...traits, ...ofBinding, ...ofVersion };
}

/** What every binding of a protocol is sure to have of its signatures and seals. */
export function surelyProtected({ traits, bindingTraits = {} }: TraitSource): Pick<Traits, "signed" | "sealed"> {
  const all = [traits, ...Object.values(bindingTraits)];
  return { signed: least(all, "signed"), sealed: least(all, "sealed") };
}

const ORDER: readonly Traits["signed"][] = ["none", "hop", "end-to-end"];

function least(all: readonly Maybe<Partial<Traits>>[], name: "signed" | "sealed"): Traits["signed"] {
  return ORDER.find((each) => all.some((traits) => traits?.[name] === each)) ?? "none";
}
