import { runDriver } from "../../harness/driver.js";
import { HELP, parseOptions } from "./options.js";
import { titlesOf } from "./ratios.js";
import { runGateway } from "./run.js";

await runDriver({
  name: "bench:gateway",
  help: HELP,
  parse: parseOptions,
  measure: async (options, context) => ({ result: await runGateway(options, context), titles: titlesOf(options.pairs) }),
});
