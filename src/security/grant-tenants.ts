import type { Admitted, Maybe, Principal } from "../envelope/index.js";
import { type Admission, type AdmissionOutcome, admittedOf, needsBody } from "./admission.js";

/** An admission whose callers may name the tenants that are granted to them by caller id, besides those of their token. */
export function grantTenants(admission: Admission, grants: Maybe<{ readonly [caller: string]: readonly string[] }>): Admission {
  if (grants === undefined) return admission;
  const byCaller = new Map(Object.entries(grants));
  /** Most admissions return the same principal for every request of a caller. */
  const granted = new WeakMap<Principal, Principal>();

  function grantedTo(principal: Principal): Principal {
    const tenants = byCaller.get(principal.id);
    if (tenants === undefined) return principal;
    const known = granted.get(principal);
    if (known !== undefined) return known;
    const made = Object.freeze({ ...principal, tenants: [...(principal.tenants ?? []), ...tenants] });
    granted.set(principal, made);
    return made;
  }

  function outcomeOf(outcome: AdmissionOutcome): Admitted {
    const admitted = admittedOf(outcome);
    return { ...admitted, principal: grantedTo(admitted.principal) };
  }

  const { identify } = admission;
  const admit: Admission = (head, facts) => {
    const decision = admission(head, facts);
    const decided = (made: Awaited<typeof decision>) =>
      needsBody(made)
        ? { bodyBytes: made.bodyBytes, complete: async (body: Uint8Array) => outcomeOf(await made.complete(body)) }
        : outcomeOf(made);
    return decision instanceof Promise ? decision.then(decided) : decided(decision);
  };
  return Object.assign(
    admit,
    admission,
    identify && { identify: async (...peer: Parameters<typeof identify>) => outcomeOf(await identify.apply(admission, peer)) },
  );
}
