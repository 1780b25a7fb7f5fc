import type { Measurement, Row } from "./result.js";

/** Something that can be measured once per round. */
export interface Arm {
  readonly name: string;
  measure(): Promise<Measurement>;
}

/**
 * Each round starts one arm further on and every second round runs backwards, so that no arm always follows the same
 * neighbour or always comes when the machine is warm.
 */
export function orderOfRound<T>(arms: readonly T[], round: number): readonly T[] {
  if (arms.length === 0) return [];
  const shift = Math.floor(round / 2) % arms.length;
  const rotated = [...arms.slice(shift), ...arms.slice(0, shift)];
  return round % 2 === 1 ? rotated.reverse() : rotated;
}

export interface Section {
  readonly name: string;
  readonly arms: readonly Arm[];
  /** Asked before each round, with the number of rounds done. */
  again(done: number, rows: readonly Row[]): boolean;
  /** Called before each measurement. */
  onStep?(round: number, arm: string): void;
}

/** Runs every arm once per round, interleaved. Every row has one measurement per round. */
export async function runSection(section: Section): Promise<readonly Row[]> {
  const series = new Map<string, Measurement[]>(section.arms.map((arm) => [arm.name, []]));
  const rows = section.arms.map((arm) => ({ section: section.name, arm: arm.name, series: series.get(arm.name) ?? [] }));
  for (let round = 0; section.again(round, rows); round++) {
    for (const arm of orderOfRound(section.arms, round)) {
      section.onStep?.(round, arm.name);
      series.get(arm.name)?.push(await arm.measure());
    }
  }
  return rows;
}
