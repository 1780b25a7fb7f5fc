import { fileURLToPath } from "node:url";
import { PACKAGE_ROOT } from "../../../src/transport/node/package-file.js";

/** The compiled programs of the benchmark, by role. Tests replace them by programs that misbehave. */
export interface ProgramFiles {
  readonly agent: string;
  readonly caller: string;
  readonly wire: string;
}

const built = (name: string): string => fileURLToPath(new URL(`dist/bench/protocols/processes/${name}.js`, PACKAGE_ROOT));

/** Always the built ones: a loader would be measured too. */
export const PROGRAMS: ProgramFiles = { agent: built("agent"), caller: built("caller"), wire: built("wire") };
