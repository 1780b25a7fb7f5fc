import { type Admitted, AgentError, type Awaitable, type Maybe, type Principal } from "../envelope/index.js";
import {
  type Admission,
  type AdmissionFacts,
  type AdmissionOutcome,
  admittedOf,
  type NeedsBody,
  needsBody,
  type ProvenPeer,
} from "../security/admission.js";
import type { SignatureProfile } from "../security/signatures/index.js";
import type { RequestHead } from "../transport/exchange.js";

const NO_BODY = new Uint8Array(0);

/** The one decision about the caller of a request, kept in `head.admitted`: nobody is authenticated twice. */
export class RequestAdmission {
  readonly #admission: Admission;
  readonly #facts: (head: RequestHead, signatures: Maybe<SignatureProfile>) => AdmissionFacts;
  /** Called when a peer proved its identity inside a protocol. What it throws refuses the peer. */
  onIdentified: ((head: RequestHead, principal: Principal) => void) | undefined;
  /** Called when such a peer is not admitted. */
  onUnidentified: ((head: RequestHead, thrown: unknown) => void) | undefined;

  constructor(admission: Admission, facts: (head: RequestHead, signatures: Maybe<SignatureProfile>) => AdmissionFacts) {
    this.#admission = admission;
    this.#facts = facts;
  }

  /** Whether the head can decide: it presents credentials, or everyone is admitted. */
  decidesByHead(head: RequestHead): boolean {
    return this.#admission.open === true || (this.#admission.claims?.(head) ?? true);
  }

  /** Whether peers that a protocol proved can be admitted by their DID. */
  get identifies(): boolean {
    return this.#admission.identify !== undefined;
  }

  /**
   * Decides by the head. Returns what needs the body, if the head does not decide. Throws the refusal. `signatures`: how the protocol
   * signs.
   */
  decide(head: RequestHead, signatures?: Maybe<SignatureProfile>): Awaitable<Maybe<NeedsBody>> {
    const decision = this.#admission(head, this.#facts(head, signatures));
    if (decision instanceof Promise)
      return decision.then((made) => {
        if (needsBody(made)) return made;
        head.admitted = admittedOf(made);
        return undefined;
      });
    if (needsBody(decision)) return decision;
    head.admitted = admittedOf(decision);
    return undefined;
  }

  /** Decides with the body. Rejects with the refusal. */
  complete(head: RequestHead, needs: NeedsBody, body: Uint8Array): Awaitable<Admitted> {
    try {
      const outcome = needs.complete(body);
      return remember(head, outcome instanceof Promise ? outcome.then(admittedOf) : admittedOf(outcome));
    } catch (thrown) {
      return refuse(head, thrown);
    }
  }

  /** The caller, decided now if it is not yet. */
  admit(head: RequestHead): Awaitable<Principal> {
    const known = head.admitted ?? this.#decideNow(head);
    return known instanceof Promise ? known.then(principalOf) : known.principal;
  }

  #decideNow(head: RequestHead): Awaitable<Admitted> {
    let needs: Awaitable<Maybe<NeedsBody>>;
    try {
      needs = this.decide(head);
    } catch (thrown) {
      return refuse(head, thrown);
    }
    if (!(needs instanceof Promise)) return needs === undefined ? decided(head) : this.complete(head, needs, bodyOf(head));
    return remember(
      head,
      needs.then((found) => (found === undefined ? decided(head) : this.complete(head, found, bodyOf(head)))),
    );
  }

  identify(head: RequestHead, peer: ProvenPeer): Awaitable<Principal> {
    const identified = (outcome: AdmissionOutcome): Admitted => {
      const admitted = admittedOf(outcome);
      this.onIdentified?.(head, admitted.principal);
      return admitted;
    };
    const refused = (thrown: unknown): never => {
      this.onUnidentified?.(head, thrown);
      throw thrown;
    };
    let outcome: Awaitable<AdmissionOutcome>;
    try {
      outcome = this.#identify(peer);
    } catch (thrown) {
      return refused(thrown);
    }
    const admitted = remember(head, outcome instanceof Promise ? outcome.then(identified, refused) : identified(outcome));
    return admitted instanceof Promise ? admitted.then(principalOf) : admitted.principal;
  }

  #identify(peer: ProvenPeer): Awaitable<AdmissionOutcome> {
    const { identify } = this.#admission;
    if (identify === undefined) throw new AgentError("forbidden", "this agent does not admit peers by their DID");
    return identify.call(this.#admission, peer);
  }
}

const principalOf = ({ principal }: Admitted): Principal => principal;

/** A request without a body, or the upgrade request of a session, is decided by its head. */
function bodyOf(head: RequestHead & { readonly body?: Uint8Array }): Uint8Array {
  return head.body ?? NO_BODY;
}

function decided({ admitted }: RequestHead): Awaitable<Admitted> {
  if (admitted === undefined) throw new AgentError("internal", "the admission made no decision");
  return admitted;
}

/** Once made, a late decision is kept as a plain value. */
function remember(head: RequestHead, admitted: Awaitable<Admitted>): Awaitable<Admitted> {
  head.admitted = admitted;
  if (admitted instanceof Promise)
    admitted.then(
      (value) => {
        head.admitted = value;
      },
      // The refusal reaches whoever waits for it.
      () => undefined,
    );
  return admitted;
}

/** A refusal is kept too: it is what everybody is told who asks for the caller. */
export function refuse(head: RequestHead, thrown: unknown): Promise<Admitted> {
  return remember(head, Promise.reject(thrown)) as Promise<Admitted>; // it was given one
}
