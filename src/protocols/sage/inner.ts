import { AgentError, type Card, type Maybe, type Via } from "../../envelope/index.js";
import type { SignatureProfile } from "../../security/signatures/index.js";
import type { DeclaredLoss, Protocol } from "../protocol.js";
import type { BindingTraits } from "../traits.js";
import { SIGNATURES } from "./signatures/profile.js";
import { BINDING, EXTENSION_URI, VERSION } from "./wire.js";

type Form = Pick<Via, "version" | "binding">;

/** A protocol below: SAGE signs and seals what it carries, in its newest version. */
export interface Inner {
  readonly id: string;
  readonly protocol: Protocol;
  /** What SAGE is carried by. */
  readonly below: Form;
  /** The binding of SAGE over it. */
  readonly binding: string;
  /** SAGE is over this one if nobody says over which. */
  readonly isDefault: boolean;
  readonly contentHeaders: readonly string[];
  /** How its requests are signed: as all of them, with the headers in which it carries content. */
  readonly signatures: SignatureProfile;
  /** The binding of a call in one of its forms. Undefined: the form cannot carry what SAGE adds. */
  bindingOf(form: Form): Maybe<string>;
}

/** The protocols below. All forms of the first are taken, and keep their names. */
export function innersOf(first: Protocol, others: readonly Protocol[]): readonly Inner[] {
  const plain: Inner = {
    ...{ id: first.id, protocol: first, isDefault: true, contentHeaders: [], signatures: SIGNATURES },
    ...{ below: { version: first.versions[0] ?? "", binding: BINDING }, binding: BINDING, bindingOf: ({ binding }) => binding },
  };
  return [plain, ...others.map(otherInner)];
}

function otherInner(protocol: Protocol): Inner {
  const { id, carrier, traits, versions } = protocol;
  if (carrier === undefined || !traits.proofs)
    throw new AgentError("unsupported", `${id} cannot carry signed and sealed messages`);
  const { contentHeaders } = carrier;
  const carried = contentHeaders.map((component) => ({ component, when: "present" as const }));
  const below = { version: versions[0] ?? "", binding: carrier.binding };
  const binding = `${id.toUpperCase()}+${carrier.binding}`;
  return {
    ...{ id, protocol, below, binding, isDefault: false, contentHeaders },
    signatures: { ...SIGNATURES, request: { sign: [...SIGNATURES.request.sign, ...carried] } },
    bindingOf: (form) => (isSame(form, below) ? binding : undefined),
  };
}

/** Whether an interface of the protocol below carries SAGE. */
export function isCarrier({ below }: Inner, form: Form): boolean {
  return isSame(form, below);
}

function isSame(one: Form, other: Form): boolean {
  return one.version === other.version && one.binding === other.binding;
}

/** The protocol below a binding of SAGE. */
export function innerBelow(inners: readonly Inner[], binding: string): Inner {
  const found = inners.find((each) => each.binding === binding);
  if (found !== undefined) return found;
  throw new AgentError("unsupported", `SAGE over ${binding.slice(0, 64)} is not supported`, { sent: "no" });
}

/** Whether SAGE is over a protocol, as a server is set. */
export function isOver({ id, isDefault }: Inner, over: Maybe<readonly string[]>): boolean {
  return over?.includes(id) ?? isDefault;
}

/** Throws AgentError for a setting that names an unknown protocol. */
export function checkOver(inners: readonly Inner[], over: Maybe<readonly string[]>): void {
  const unknown = over?.find((name) => !inners.some(({ id }) => id === name));
  if (unknown === undefined) return;
  const known = inners.map(({ id }) => id).join(", ");
  const problem = `sage.over must name protocols of ${known}, and not ${JSON.stringify(unknown.slice(0, 64))}`;
  throw new AgentError("invalid_message", problem, { field: "over", sent: "no" });
}

/** Whether a card offers SAGE over a protocol. One that does not say over which offers it over the first. */
export function isOfferedOver({ id, isDefault }: Inner, { capabilities }: Card): boolean {
  const offered = capabilities.extensions.find(({ uri }) => uri === EXTENSION_URI);
  const over = offered?.params?.["over"];
  return offered !== undefined && (Array.isArray(over) ? over.includes(id) : isDefault);
}

/** What SAGE supports over the others: what they do. Signatures and seals are the same over all. */
export function bindingTraitsOver(inners: readonly Inner[]): BindingTraits {
  const others = inners.filter(({ isDefault }) => !isDefault);
  return Object.fromEntries(
    others.map(({ binding, protocol: { traits } }) => {
      const { signed, sealed, ...rest } = traits;
      return [binding, rest];
    }),
  );
}

/** What SAGE loses over a protocol. Of those that are not the first, the reason names it. */
export function lossesOver({ protocol, below, isDefault, binding }: Inner): readonly DeclaredLoss[] {
  return protocol.losses
    .filter(({ version }) => version === below.version)
    .map(({ path, reason }) => ({ version: VERSION, path, reason: isDefault ? reason : `over ${binding}: ${reason}` }));
}
