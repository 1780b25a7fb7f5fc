import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Scenario } from "../../src/router/index.js";
import { compiled } from "../programs.js";
import { moduleSaying } from "./scenarios.js";
import { THIRTY } from "./thirty-texts.js";

/** One scenario of thirty modules. */
export const THIRTY_MODULES: Scenario = {
  id: "s",
  description: "All messages are tiny.",
  modules: THIRTY.map((text, index) => moduleSaying(text, { id: `m${index}` })),
};

const PROGRAM = `
  import { readFileSync } from "node:fs";
  const { route } = await import(${JSON.stringify(compiled("src/router/index.ts"))});
  process.stdout.write(JSON.stringify(await route(JSON.parse(readFileSync(0, "utf8")))));
`;

/** The decisions as JSON, made in another process with these environment variables. */
export function routeInProcess(scenario: Scenario, environment: NodeJS.ProcessEnv): string {
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", PROGRAM], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { ...process.env, ...environment },
    input: JSON.stringify(scenario),
    encoding: "utf8",
    timeout: 60_000,
  });
  if (child.status !== 0) throw new Error(`the process exited with ${child.status}: ${child.stderr}`);
  return child.stdout;
}
