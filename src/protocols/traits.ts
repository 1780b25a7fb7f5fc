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

/** All context members, for protocols that have a place for every one. */
export const EVERY_CONTEXT_MEMBER: readonly (keyof Context)[] = Object.keys({
  traceId: true,
  parentId: true,
  idempotencyKey: true,
  sessionId: true,
  taskId: true,
  priority: true,
  ttlMs: true,
  stream: true,
  artifactRefs: true,
  tags: true,
  minVersion: true,
  maxVersion: true,
} satisfies { readonly [member in keyof Context]-?: true }) as (keyof Context)[]; // the keys of a literal

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

/** What a protocol is sure to have of signatures and seals, over every binding, in one version or in whichever is found. */
export function surelyProtected(
  { traits, versionTraits = {}, bindingTraits = {} }: TraitSource,
  version?: Maybe<string>,
): Pick<Traits, "signed" | "sealed"> {
  const versions = version === undefined ? Object.values(versionTraits) : [versionTraits[version]];
  const all = [traits, ...Object.values(bindingTraits), ...versions];
  return { signed: least(all, "signed"), sealed: least(all, "sealed") };
}

const ORDER: readonly Traits["signed"][] = ["none", "hop", "end-to-end"];

function least(all: readonly Maybe<Partial<Traits>>[], name: "signed" | "sealed"): Traits["signed"] {
  return ORDER.find((each) => all.some((traits) => traits?.[name] === each)) ?? "none";
}

/** How a server stores content. Undefined: it does not, except in memory, or does not know. */
export interface AtRest {
  readonly tasks: Maybe<"sealed" | "clear">;
  /** Parts that are kept by reference. They are never sealed. */
  readonly largeParts: Maybe<"clear">;
}
