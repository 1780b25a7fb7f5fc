import {
  type AgentError,
  type Call,
  type Floor,
  firstMissing,
  floorOf,
  floorRefusal,
  isEncryptedByArrival,
  type Maybe,
  missingFrom,
  NO_FLOOR,
  type Operation,
  type Requirement,
  raiseFloor,
} from "../envelope/index.js";
import { type Clock, noteFor, type PolicySink } from "../policies/index.js";
import { classOfUrl, type Exposure, exposureOf, type Identity, literalExposure, resolveByDns } from "../security/index.js";
import { isTlsAddress } from "../transport/address-parts.js";
import { httpAddress } from "../transport/request.js";
import { permitClearText } from "./clear-text.js";
import { isAtOrigin } from "./credentials.js";

/** An exception from the security that calls must have. It ends by itself. */
export interface Opening {
  /** The upstream it is for: the name of an agent, or `agent/upstream` where an agent has several. */
  readonly upstream: string;
  /** The requirements that do not hold there. */
  readonly lowers: readonly Requirement[];
  /** Why, for whoever reads it later. */
  readonly reason: string;
  /** The day, or the time, at which it ends: ISO 8601, UTC. */
  readonly until: string;
}

/** The security of the calls to one peer. */
export interface FloorOptions {
  /** What every call to this peer must have. Default: what the call itself requires. */
  readonly require?: readonly Requirement[];
  /**
   * How far a call that arrived over TLS may be sent on unencrypted, to an address that you gave without TLS: within this host, or to a
   * private address too. Default: `private`.
   */
  readonly clearText?: "loopback" | "private";
  /** Exceptions for this peer. Default: none. */
  readonly openings?: readonly Omit<Opening, "upstream">[];
  /** Receives a note for each call that is sent with less security than it must have, or refused. Default: none. */
  readonly notes?: PolicySink;
}

/** Where a call goes, and what it is given there. */
export interface Destination {
  readonly protocol: string;
  /** The address that is dialled. */
  readonly url: string;
  readonly provided: Floor;
}

const SIGNED = floorOf(["signed"]);

/** Decides whether a call may go to a peer, by its floor. One per peer. */
export class FloorRules {
  /** What every call must have. */
  readonly required: Floor;
  readonly #address: string;
  readonly #options: FloorOptions;
  readonly #id: string;
  /** Requests are signed with the user's identity. */
  readonly #signs: boolean;
  readonly #clock: Pick<Clock, "now">;
  /** Of the configured address, if it has no TLS. Undefined while its name is not resolved. */
  #exposure: Maybe<Exposure>;

  constructor(
    address: string,
    options: FloorOptions & { readonly id?: string; readonly identity?: Identity },
    clock: Pick<Clock, "now">,
  ) {
    this.required = options.require === undefined ? NO_FLOOR : floorOf(options.require);
    this.#address = address;
    this.#options = options;
    this.#id = options.id ?? "other";
    this.#signs = options.identity !== undefined;
    this.#clock = clock;
    this.#exposure = literalExposure(hostOf(address));
  }

  /** What signatures of requests add: they are made at the peer's own origin. They do not say who the peer is. */
  signedAt(url: string): Floor {
    return this.#signs && isAtOrigin(url, this.#address) ? SIGNED : NO_FLOOR;
  }

  /** Resolves the name of the address, so that calls need not wait for it. An unresolved name counts as public. */
  async learn(): Promise<void> {
    if (this.#exposure !== undefined || isTlsAddress(this.#address)) return;
    const found = await classOfUrl(httpAddress(this.#address), resolveByDns).catch(() => undefined);
    this.#exposure = found === undefined ? undefined : exposureOf(found);
  }

  /** The call as it may be sent. Throws AgentError `downgrade_refused`. */
  check(operation: Operation, call: Call, destination: Destination): Call {
    let provided = destination.provided;
    // What the protocol encrypts itself may go anywhere.
    const sealed = call.floor.encrypted && provided.encrypted && !isTlsAddress(destination.url);
    let allowed = sealed ? permitClearText(call, "public") : call;
    for (;;) {
      const missing = firstMissing(call.floor, provided);
      if (missing === undefined) return allowed;
      const exception = this.#exception(missing, call.floor, destination.url);
      if (exception === undefined) throw this.#refuse(operation, call, missing, destination);
      provided = raiseFloor(provided, floorOf([missing]));
      if (missing === "encrypted") allowed = permitClearText(call, exception.exposure);
      this.#note(operation, call, destination.protocol, { outcome: "lowered", requirement: missing, because: exception.because });
    }
  }

  /** What a call with this floor would get for every requirement that the destination does not provide. */
  verdicts(floor: Floor, { protocol, url, provided }: Destination): readonly FloorFields[] {
    const all = raiseFloor(floor, this.required);
    return missingFrom(all, provided).map((requirement) => {
      const exception = this.#exception(requirement, all, url);
      if (exception !== undefined) return { outcome: "lowered", requirement, because: exception.because };
      return {
        outcome: "refused",
        requirement,
        because: floorRefusal(requirement, `${protocol} does not provide there`).message,
      };
    });
  }

  #exception(missing: Requirement, floor: Floor, url: string): Maybe<Exception> {
    const opening = this.#options.openings?.find(
      ({ lowers, until }) => lowers.includes(missing) && this.#clock.now() < endOf(until),
    );
    if (opening !== undefined) return { exposure: "public", because: `opened until ${opening.until}: ${opening.reason}` };
    if (missing !== "encrypted") return undefined;
    const exposure = isAtOrigin(url, this.#address) ? this.#exposure : literalExposure(hostOf(url));
    if (exposure === "loopback") return { exposure, because: "the address is on this host" };
    const isPrivate = exposure === "private" && isAtOrigin(url, this.#address) && this.#options.clearText !== "loopback";
    return isPrivate && isEncryptedByArrival(floor)
      ? { exposure, because: "the call arrived over TLS, and the address is private and configured without TLS" }
      : undefined;
  }

  #refuse(operation: Operation, call: Call, missing: Requirement, { protocol, url }: Destination): AgentError {
    const error = floorRefusal(missing, `${protocol} at ${hostOf(url)} does not provide`);
    this.#note(operation, call, protocol, { outcome: "refused", requirement: missing, because: error.message });
    return error;
  }

  #note(operation: Operation, call: Call, protocol: string, fields: FloorFields): void {
    noteFor({ destination: this.#id, protocol, notes: this.#options.notes })(operation, call, { kind: "floor", ...fields });
  }
}

interface Exception {
  readonly exposure: Exposure;
  readonly because: string;
}

/** A requirement that is not met, and what follows. */
export interface FloorFields {
  readonly outcome: "lowered" | "refused";
  readonly requirement: Requirement;
  readonly because: string;
}

/** The instant at which an opening ends: a day ends at its last moment, in UTC. */
function endOf(until: string): number {
  const at = Date.parse(until);
  return /^\d{4}-\d{2}-\d{2}$/.test(until) ? at + DAY_MS : at;
}
const DAY_MS = 86_400_000;

function hostOf(url: string): string {
  const address = httpAddress(url);
  return URL.canParse(address) ? new URL(address).hostname : url;
}
