import type { Command } from "commander";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine store-keys create ~/.koine/support.json.store-keys   before replicas on several machines share it
  koine store-keys rotate ~/.koine/support.json.store-keys   new tasks get the new key a minute later, without a restart

koine serve makes the file beside its --identity at first use. Without it the tasks in the store are lost: keep a copy.`;

const FILE = "the file of store keys";

/** `koine store-keys`: the keys that stored tasks are sealed with. */
export function addStoreKeys(program: Command): void {
  const keys = program
    .command("store-keys")
    .description("the keys that the tasks in a store are sealed with")
    .addHelpText("after", EXAMPLES);
  keys
    .command("create")
    .description("make a file with one key, readable by you alone; an existing file is not overwritten")
    .argument("<file>", "the new file")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../store-keys.js")).createKeyFile));
  keys
    .command("show")
    .description("print the names of the keys and since when they are used, never a key")
    .argument("<file>", FILE)
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../store-keys.js")).showKeyFile));
  keys
    .command("rotate")
    .description("add a key for everything new; the old ones stay, and open what they sealed")
    .argument("<file>", FILE)
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../store-keys.js")).rotateKeyFile));
}
