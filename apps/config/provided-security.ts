import type { Maybe, Requirement } from "../../src/index.js";
import { surelyProtected, traitsOf } from "../../src/internal.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";

/** How an agent will be called, as far as a configuration says it. */
export interface PlannedCalls {
  /** Where it is: a URL, or a DID. */
  readonly url: string;
  /** `protocol`, `protocol@version` or `protocol@version/binding`. Undefined: whatever is discovered. */
  readonly pin: Maybe<string>;
  /** The protocols that it may be called by. Default: all. */
  readonly by?: Maybe<readonly Protocol[]>;
  /** Requests are signed with an identity. */
  readonly signs: boolean;
  /** Whether it is fixed who the agent must prove to be, if it is called by this protocol. */
  namesPeer(protocol: Protocol): boolean;
}

/** What calls are sure to have: by TLS, or by every protocol that they may be made with. */
export function providedSecurity({ url, pin, by = protocols, signs, namesPeer }: PlannedCalls): readonly Requirement[] {
  const [, wanted, version, binding] = /^([^@/]*)(?:@([^/]*))?(?:\/(.*))?$/.exec(pin ?? "") ?? [];
  const traits = by
    .filter(({ id }) => pin === undefined || id === wanted)
    .map((each) => {
      // Seals and signatures protect from nobody while the peer may be anybody: a description names whom its author likes.
      if (!namesPeer(each)) return { signed: "none", sealed: "none" } as const;
      return binding === undefined ? surelyProtected(each, version) : traitsOf(each, version ?? "", binding);
    });
  const isTls = url.startsWith("https:");
  const provesPeer = traits.every(({ signed }) => signed !== "none");
  const provided: { readonly [name in Requirement]: boolean } = {
    encrypted: isTls || traits.every(({ sealed }) => sealed !== "none"),
    signed: provesPeer || signs,
    "end-to-end": traits.every(({ sealed, signed }) => sealed === "end-to-end" && signed === "end-to-end"),
    identity: isTls || provesPeer,
  };
  return (Object.keys(provided) as Requirement[]).filter((name) => provided[name]); // its keys are requirements
}
