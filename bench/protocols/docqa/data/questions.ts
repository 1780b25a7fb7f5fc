import { chance, shuffled } from "../../../harness/chance.js";
import type { Notice, Port, Ship, World } from "./world.js";

export const LEVELS = [1, 2, 3] as const;
export type Level = (typeof LEVELS)[number];

/** What is asked; the plan of a question follows from its kind. */
export const QUESTION_KINDS = ["fee", "master", "bill", "difference", "spread", "total"] as const;
export type QuestionKind = (typeof QUESTION_KINDS)[number];

export const LEVEL_OF: Readonly<Record<QuestionKind, Level>> = { fee: 1, master: 1, bill: 2, difference: 2, spread: 3, total: 3 };

/** A question with its exact answer. */
export interface Question {
  readonly id: string;
  readonly kind: QuestionKind;
  readonly level: Level;
  readonly text: string;
  /** What the text names, for a planner that plans by rule. */
  readonly given: Readonly<Record<string, string>>;
  readonly answer: string;
}

/** The most of one level that are all different. */
export const MAX_PER_LEVEL = 16;

/** The questions of a world at these levels, so many of each, drawn by the seed. */
export function askQuestions(world: World, { levels, perLevel, seed }: QuestionChoice): readonly Question[] {
  const random = chance(seed);
  if (perLevel > MAX_PER_LEVEL) throw new Error(`a level has ${MAX_PER_LEVEL} different questions, not ${perLevel}`);
  return levels.flatMap((level) => {
    const kinds = QUESTION_KINDS.filter((kind) => LEVEL_OF[kind] === level);
    const pools = kinds.map((kind) => shuffled(ASK[kind](world), random));
    return Array.from({ length: perLevel }, (_, index) => {
      const pool = pools[index % pools.length] ?? [];
      const asked = pool[Math.floor(index / pools.length)];
      if (asked === undefined) throw new Error(`there is nothing to ask at level ${level}`);
      const kind = kinds[index % kinds.length] ?? "fee";
      return { id: `L${level}-Q${index + 1}`, kind, level, ...asked };
    });
  });
}

export interface QuestionChoice {
  readonly levels: readonly Level[];
  readonly perLevel: number;
  readonly seed: number;
}

type Asked = Pick<Question, "text" | "given" | "answer">;

/** Answers are computed from the world, never from the documents: another way than the agents have. */
const ASK: Readonly<Record<QuestionKind, (world: World) => readonly Asked[]>> = {
  fee: ({ ports, ships }) =>
    ships.map((ship) => ({
      text: `What is the berth fee per night, in crowns, in the home port of the ${ship.name}, before any notice?`,
      given: { ship: ship.name },
      answer: String(portOf(ports, ship).fee),
    })),
  master: ({ ports, ships }) =>
    ships.map((ship) => ({
      text: `Who is the harbour master in the home port of the ${ship.name}?`,
      given: { ship: ship.name },
      answer: portOf(ports, ship).master,
    })),
  bill: ({ ports, ships }) =>
    ships.map((ship, index) => {
      const nights = 2 + (index % 9);
      const port = portOf(ports, ship);
      return {
        text: `How many crowns do ${nights} nights in her home port cost the ${ship.name} after all notices of that port?`,
        given: { ship: ship.name, nights: String(nights) },
        answer: written(feeAfter(port.fee, port.notices) * nights),
      };
    }),
  difference: ({ ports, ships }) =>
    ships.flatMap((ship, index) => {
      const other = ships[(index + 7) % ships.length];
      if (other === undefined || other.port === ship.port) return [];
      const [a, b] = [portOf(ports, ship).fee, portOf(ports, other).fee];
      return {
        text: `By how many crowns per night is the home port of the ${ship.name} dearer than that of the ${other.name}, before any notice? A cheaper one is a negative number.`,
        given: { ship: ship.name, other: other.name },
        answer: written(a - b),
      };
    }),
  spread: ({ fleets, ...world }) =>
    fleets.map((fleet) => {
      const bills = billsOf({ fleets, ...world }, fleet.name);
      return {
        text: `After the notices of the board and its discount, how many crowns lie between the dearest and the cheapest yearly berth bill of the ships of the ${fleet.name} fleet?`,
        given: { fleet: fleet.name },
        answer: written(Math.max(...bills) - Math.min(...bills)),
      };
    }),
  total: ({ fleets, ...world }) =>
    fleets.map((fleet) => ({
      text: `After the notices of the board and its discount, how many crowns does the ${fleet.name} fleet pay for the berths of all its ships in a year?`,
      given: { fleet: fleet.name },
      answer: written(billsOf({ fleets, ...world }, fleet.name).reduce((sum, bill) => sum + bill, 0)),
    })),
};

function portOf(ports: readonly Port[], { port }: Ship): Port {
  const found = ports.find(({ name }) => name === port);
  if (found === undefined) throw new Error(`there is no port ${port}`);
  return found;
}

function feeAfter(fee: number, notices: readonly Notice[]): number {
  return notices.reduce(
    (value, notice) => (notice.kind === "add" ? value + notice.crowns : (value * (100 + notice.percent)) / 100),
    fee,
  );
}

/** The yearly bill of each ship of a fleet, in crowns. */
function billsOf({ fleets, ships, ports, board }: World, name: string): readonly number[] {
  const discount = fleets.find((fleet) => fleet.name === name)?.discount ?? 0;
  return ships
    .filter(({ fleet }) => fleet === name)
    .map((ship) => (feeAfter(portOf(ports, ship).fee, board) * ship.nights * (100 - discount)) / 100);
}

/** In two decimals, without those that say nothing. */
function written(crowns: number): string {
  return String(Number(crowns.toFixed(2)));
}
