import { chance, oneOf, shuffled } from "../../../harness/chance.js";

/** One change of the berth fees, in crowns or percent. Applied in the order of their numbers: in another order the fee is another. */
export type Notice = { readonly kind: "add"; readonly crowns: number } | { readonly kind: "raise"; readonly percent: 25 | 50 };

export interface Port {
  readonly name: string;
  readonly master: string;
  /** Crowns per night. */
  readonly fee: number;
  /** The port's own changes of its fee. */
  readonly notices: readonly Notice[];
}

export interface Ship {
  readonly name: string;
  readonly kind: string;
  readonly port: string;
  readonly fleet: string;
  /** Nights in her home port last year. */
  readonly nights: number;
}

export interface Fleet {
  readonly name: string;
  readonly ships: readonly string[];
  /** Percent off every bill of its ships. */
  readonly discount: 10 | 20 | 25;
}

/** What is true in one set of documents. Documents, questions and answers are made of it, and agents never see it. */
export interface World {
  readonly ports: readonly Port[];
  readonly ships: readonly Ship[];
  readonly fleets: readonly Fleet[];
  /** Changes of the fee of every port, by the board of all ports. */
  readonly board: readonly Notice[];
}

const PORTS = ["Aldemar", "Brisk", "Corvane", "Dunmere", "Estholm", "Farrow", "Galt", "Heronsea", "Istrel", "Jarrowick"] as const;
const MASTERS = ["Amery", "Bolling", "Cray", "Dace", "Ewart", "Finch", "Gorse", "Hale", "Imber", "Joyce"] as const;
const FIRST = ["Ada", "Boris", "Clara", "Dmitri", "Elsa", "Frank", "Greta", "Henk", "Ines", "Jonas"] as const;
const FLEETS = ["Amber", "Basalt", "Cobalt", "Drift", "Ember", "Fathom", "Granite", "Halcyon"] as const;
const ADJECTIVES = ["Blue", "Early", "Gentle", "Iron", "Long", "Quiet", "Red", "Silver"] as const;
const BIRDS = ["Curlew", "Dunlin", "Gannet", "Plover", "Tern", "Whimbrel"] as const;
const KINDS = ["ferry", "collier", "trawler", "tug", "ketch"] as const;
const SHIPS_PER_FLEET = 3;
const NOTICES = 3;
/** Two raises by a quarter leave whole crowns. */
const FEE_STEP = 80;

/** The same world for the same seed. Numbers are chosen so that every answer is exact in two decimals. */
export function makeWorld(seed: number): World {
  const random = chance(seed);
  const upTo = (most: number): number => 1 + Math.floor(random() * most);
  const masters = shuffled(MASTERS, random);
  const firsts = shuffled(FIRST, random);
  // Different, so that a fact about the wrong port gives another answer.
  const fees = shuffled(
    PORTS.map((_, index) => FEE_STEP * (1 + index)),
    random,
  );
  const ports = PORTS.map(
    (name, index): Port => ({
      name,
      master: `${firsts[index]} ${masters[index]}`,
      fee: fees[index] ?? 0,
      notices: makeNotices(random),
    }),
  );
  const names = shuffled(
    ADJECTIVES.flatMap((adjective) => BIRDS.map((bird) => `${adjective} ${bird}`)),
    random,
  );
  const fleets = FLEETS.map(
    (name, index): Fleet => ({
      name,
      ships: names.slice(index * SHIPS_PER_FLEET, (index + 1) * SHIPS_PER_FLEET),
      discount: oneOf([10, 20, 25] as const, random) ?? 10,
    }),
  );
  const ships = fleets.flatMap((fleet) => {
    const homes = shuffled(PORTS, random);
    return fleet.ships.map(
      (name, index): Ship => ({
        name,
        kind: oneOf(KINDS, random) ?? "",
        port: homes[index] ?? "",
        fleet: fleet.name,
        nights: 4 + upTo(36),
      }),
    );
  });
  return { ports, ships, fleets, board: makeNotices(random) };
}

/** Sums and percentages in turn: no two neighbours can change places without changing the fee. */
function makeNotices(random: () => number): readonly Notice[] {
  const first = random() < 0.5 ? 0 : 1;
  return Array.from({ length: NOTICES }, (_, index): Notice => {
    if ((index + first) % 2 === 0) return { kind: "add", crowns: 4 * (1 + Math.floor(random() * 9)) };
    return { kind: "raise", percent: oneOf([25, 50] as const, random) ?? 25 };
  });
}
