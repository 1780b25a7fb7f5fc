import { resolve } from "node:path";

/** Programs that tests start as processes: compiled before the tests by `global-setup.ts`, so that no test runs a loader. */
const DIST = resolve(import.meta.dirname, "../dist");

/** The command line: arguments of `node`. */
export const KOINE = [resolve(DIST, "apps/cli/main.js")] as const;

/** A source file of the repository, compiled: `test/chaos/replica.ts`, `src/index.ts`. */
export function compiled(source: string): string {
  return resolve(DIST, source.replace(/\.ts$/, ".js"));
}
