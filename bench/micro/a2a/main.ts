import { runDriver } from "../../harness/driver.js";
import { HELP, parseOptions } from "./options.js";
import { runBench } from "./run.js";
import { TITLES } from "./titles.js";

await runDriver({
  name: "bench:a2a",
  help: HELP,
  parse: parseOptions,
  measure: async (options, context) => ({ result: await runBench(options, context), titles: TITLES }),
});
