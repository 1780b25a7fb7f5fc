import type { Maybe } from "./json.js";

/** The minimum security of every further hop. It can only be raised. */
export interface Floor {
  readonly encrypted: boolean;
  readonly signed: boolean;
  readonly endToEnd: boolean;
  readonly identity: boolean;
}

/** The members of a floor as users write them. */
export const REQUIREMENTS = ["encrypted", "signed", "end-to-end", "identity"] as const;
/** One kind of security that a call may be required to have. */
export type Requirement = (typeof REQUIREMENTS)[number];

const MEMBERS: { readonly [name in Requirement]: keyof Floor } = {
  encrypted: "encrypted",
  signed: "signed",
  "end-to-end": "endToEnd",
  identity: "identity",
};

const BITS: { readonly [name in keyof Floor]: number } = { encrypted: 1, signed: 2, endToEnd: 4, identity: 8 };
const BY_ARRIVAL = 16;
/** Marks the name of a floor that is encrypted because the call arrived over TLS. */
const ARRIVAL = "tls";

/** Every floor there is, by its bits, so that raising one allocates nothing. */
const FLOORS: readonly Floor[] = Array.from({ length: 2 * BY_ARRIVAL }, (_, bits) =>
  Object.freeze({
    encrypted: (bits & (BITS.encrypted | BY_ARRIVAL)) !== 0,
    signed: (bits & BITS.signed) !== 0,
    endToEnd: (bits & BITS.endToEnd) !== 0,
    identity: (bits & BITS.identity) !== 0,
  }),
);
const BY_TLS: ReadonlySet<Floor> = new Set(
  FLOORS.filter((_, bits) => (bits & BY_ARRIVAL) !== 0 && (bits & BITS.encrypted) === 0),
);

/** Requires nothing. */
export const NO_FLOOR = floorAt(0);
/** The floor of a call that arrived over TLS: encrypted, unless the operator wrote a private address without TLS. */
export const ARRIVED_OVER_TLS = floorAt(BY_ARRIVAL);

/** A floor with the members of both. */
export function raiseFloor(floor: Floor, by: Partial<Floor>): Floor {
  if (by === NO_FLOOR) return floor;
  return floorAt(bitsOf(floor) | bitsOf(by));
}

/** The floor that these requirements make. */
export function floorOf(requirements: Iterable<Requirement>): Floor {
  let bits = 0;
  for (const requirement of requirements) bits |= BITS[MEMBERS[requirement]];
  return floorAt(bits);
}

/** The name that a floor is stored under with a task. Undefined: it requires nothing. */
export function floorName(floor: Floor): Maybe<string> {
  if (floor === NO_FLOOR) return undefined;
  return [...REQUIREMENTS.filter((name) => floor[MEMBERS[name]]), ...(BY_TLS.has(floor) ? [ARRIVAL] : [])].join(" ");
}

/** The floor of a name. Names that are not known require nothing. */
export function floorNamed(name: string): Floor {
  const words = name.split(" ");
  const isByArrival = words.includes(ARRIVAL);
  const known = REQUIREMENTS.filter((each) => words.includes(each) && !(isByArrival && each === "encrypted"));
  const floor = floorOf(known);
  return isByArrival ? raiseFloor(floor, ARRIVED_OVER_TLS) : floor;
}

/** True if the call must be encrypted only because it arrived over TLS: neither the caller nor a configuration requires it. */
export function isEncryptedByArrival(floor: Floor): boolean {
  return BY_TLS.has(floor);
}

/** The requirements of a floor that are not provided. */
export function missingFrom(floor: Floor, provided: Floor): readonly Requirement[] {
  return REQUIREMENTS.filter((name) => floor[MEMBERS[name]] && !provided[MEMBERS[name]]);
}

/** The first requirement of a floor that is not provided. */
export function firstMissing(floor: Floor, provided: Floor): Maybe<Requirement> {
  if (floor === NO_FLOOR) return undefined;
  return REQUIREMENTS.find((name) => floor[MEMBERS[name]] && !provided[MEMBERS[name]]);
}

function floorAt(bits: number): Floor {
  return FLOORS[bits] as Floor; // the table has every combination
}

function bitsOf(floor: Partial<Floor>): number {
  return (
    (floor.encrypted === true ? (BY_TLS.has(floor as Floor) ? BY_ARRIVAL : BITS.encrypted) : 0) |
    (floor.signed === true ? BITS.signed : 0) |
    (floor.endToEnd === true ? BITS.endToEnd : 0) |
    (floor.identity === true ? BITS.identity : 0)
  );
}
