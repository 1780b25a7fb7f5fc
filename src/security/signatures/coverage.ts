import type { Maybe } from "../../envelope/index.js";
import { type Component, parseComponent, type SignedMessage } from "./components.js";
import type { ProfileComponent, SignatureCoverage } from "./profile.js";
import { SignatureError } from "./signature-error.js";

interface Rule {
  readonly component: Component;
  readonly when: "always" | "body" | "present";
}

interface Covered {
  /** Rules whose components it does not have: they must not apply. */
  readonly missing: readonly Rule[];
  readonly digest: boolean;
}

/** The coverage of a profile, parsed once. */
export class CoverageRules {
  readonly #sign: readonly Rule[];
  readonly #require: readonly Rule[];
  readonly #allowed: Maybe<ReadonlySet<string>>;
  /** What lists of components cover that were checked before: equal lists are the same one (`readSignature`). */
  readonly #covered = new WeakMap<readonly Component[], Covered>();
  /** Lists of components that were written before, by which of the optional ones they have. */
  readonly #written = new Map<number, { readonly components: readonly Component[]; readonly text: string }>();

  constructor({ sign, require, exact }: SignatureCoverage) {
    this.#sign = sign.map(ruleOf);
    this.#require = require === undefined ? this.#sign : require.map(ruleOf);
    this.#allowed = exact === true ? new Set([...this.#sign, ...this.#require].map(({ component }) => component.key)) : undefined;
  }

  /** The components to write for a message, and their list as text. */
  written(message: SignedMessage, hasDigest: boolean): { readonly components: readonly Component[]; readonly text: string } {
    let chosen = 0;
    let bit = 1;
    for (const rule of this.#sign) {
      // A digest that is being written is not among the fields yet.
      if ((hasDigest && rule.component.key === DIGEST) || applies(rule, message, hasDigest)) chosen |= bit;
      bit <<= 1;
    }
    const known = this.#written.get(chosen);
    if (known !== undefined) return known;
    const components = this.#sign.flatMap(({ component }, index) => ((chosen & (1 << index)) === 0 ? [] : [component]));
    const made = { components, text: `(${components.map(({ text }) => text).join(" ")})` };
    this.#written.set(chosen, made);
    return made;
  }

  /**
   * Refuses a signature that covers less than the message demands. A digest that is there must be covered, whatever the rules say. Returns
   * whether it covers one.
   */
  check(components: readonly Component[], message: SignedMessage, hasDigest: boolean): boolean {
    const { missing, digest } = this.#covered.get(components) ?? this.#coveredBy(components);
    for (const rule of missing)
      if (applies(rule, message, hasDigest))
        throw new SignatureError("coverage", `the signature does not cover ${rule.component.text}`);
    if (!digest && (message.response ?? message.request).headers["content-digest"] !== undefined)
      throw new SignatureError("coverage", "Content-Digest is present and the signature does not cover it");
    return digest;
  }

  #coveredBy(components: readonly Component[]): Covered {
    const covered = new Set<string>();
    for (const { key, text } of components) {
      if (covered.has(key)) throw new SignatureError("duplicate_component", `the signature covers ${text} twice`);
      if (this.#allowed !== undefined && !this.#allowed.has(key))
        throw new SignatureError("coverage", `the signature covers ${text}, which is not allowed`);
      covered.add(key);
    }
    const missing = this.#require.filter(({ component }) => !covered.has(component.key));
    const made = { missing, digest: covered.has(DIGEST) };
    this.#covered.set(components, made);
    return made;
  }
}

/** The key of the component that protects the body. */
export const DIGEST = '"content-digest"';

function ruleOf(component: ProfileComponent): Rule {
  return typeof component === "string"
    ? { component: parseComponent(component), when: "always" }
    : { component: parseComponent(component.component), when: component.when };
}

function applies({ component, when }: Rule, { request, response }: SignedMessage, hasDigest: boolean): boolean {
  if (when === "always") return true;
  if (when === "body") return hasDigest;
  const { headers } = component.text.endsWith(";req") || response === undefined ? request : response;
  return headers[component.name] !== undefined;
}
