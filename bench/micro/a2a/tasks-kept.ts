import type { Row } from "../../harness/result.js";
import { median } from "../../harness/statistics.js";
import type { Usage } from "../../harness/worker.js";
import { type Stage, templateOf } from "./stage.js";

/** `--memory`: whether the server's memory becomes stable while tasks are created. */

const SENDS = 100_000;
const SAMPLES = 20;
const MEGABYTE = 1024 * 1024;
/** Memory still growing by more than this between the third and the last quarter is not flat. */
const FLAT = 1.1;

/** Resident memory after each twentieth of 100,000 task-producing sends. */
export async function watchTasksKept(stage: Stage, onStep: (arm: string, sends: number) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const family of ["floor", ...stage.families] as const) {
    const server = await stage.startServer(family, "task");
    const load = stage.startOther("load");
    const plain = templateOf(server.address, "rpc");
    const template = family === "floor" ? { ...plain, path: "/task" } : plain;
    const series: { readonly rssMb: number }[] = [];
    for (let sample = 1; sample <= SAMPLES; sample++) {
      await load.ask("many", { template, requests: SENDS / SAMPLES });
      series.push({ rssMb: (await server.ask<Usage>("collect")).rssBytes / MEGABYTE });
      onStep(family, (SENDS / SAMPLES) * sample);
    }
    rows.push({ section: "tasks kept", arm: family, series });
    server.stop();
    load.stop();
  }
  return rows;
}

/** The growth of memory from the third to the last quarter. */
export function growthOf(rssMb: readonly number[]): number {
  const quarter = Math.floor(rssMb.length / 4);
  return median(rssMb.slice(-quarter)) / median(rssMb.slice(-2 * quarter, -quarter));
}

export function isFlat(rssMb: readonly number[]): boolean {
  return growthOf(rssMb) <= FLAT;
}
