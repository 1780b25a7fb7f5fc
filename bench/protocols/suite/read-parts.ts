import { existsSync } from "node:fs";
import { join } from "node:path";
import { FILES, readResult } from "../folder/folder.js";
import type { BenchResult } from "../result/index.js";
import { isSafetyFolder, readSafetyResult } from "../safety/folder.js";
import type { SafetyResult } from "../safety/result/result.js";
import { type RouterAccuracy, readAccuracy } from "./router-accuracy.js";
import type { Suite } from "./suite.js";

/** The part in which only the router is measured, without any agent. */
export const ROUTER_PART = "routerbench";

/** What the parts of a suite have measured so far. */
export interface SuiteResults {
  /** By the name of the part. */
  readonly benches: ReadonlyMap<string, BenchResult>;
  readonly safety: SafetyResult | undefined;
  /** How often the router is right. */
  readonly accuracy: RouterAccuracy | undefined;
}

/** Throws FolderError for a result that is damaged. A part without any is left out. */
export function readParts(folder: string, { parts }: Pick<Suite, "parts">): SuiteResults {
  const benches = new Map<string, BenchResult>();
  let safety: SafetyResult | undefined;
  let accuracy: RouterAccuracy | undefined;
  for (const { name, scenario } of parts) {
    const place = join(folder, name);
    if (scenario === ROUTER_PART) accuracy = readAccuracy(place);
    if (!existsSync(join(place, FILES.result))) continue;
    if (isSafetyFolder(place)) safety = readSafetyResult(place);
    else benches.set(name, readResult(place));
  }
  return { benches, safety, accuracy };
}
