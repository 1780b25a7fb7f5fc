import { type Command, Option } from "commander";
import { collect, parseSeconds } from "../option-values.js";
import { lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine identity create ~/.koine/support.json --did web:agents.example.com
  koine identity show ~/.koine/support.json
  koine identity document ~/.koine/support.json > did.json     publish it at the address that show prints
  koine identity rotate ~/.koine/support.json --overlap 86400  then publish the document again
  koine identity revoke ~/.koine/support.json '#key-1'         then publish the document again

The file holds private keys: it is readable by you alone, and no command prints them.`;

const FILE = "the identity file";
const ONE_DAY_MS = 86_400_000;

/** `koine identity`: keys and DIDs in files. */
export function addIdentity(program: Command): void {
  const identity = program.command("identity").description("keys and DIDs of agents").addHelpText("after", EXAMPLES);
  addCreate(identity);
  identity
    .command("show")
    .description("print the DID, its keys and their dates, never a private key")
    .argument("<file>", FILE)
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../identity.js")).showIdentity));
  identity
    .command("document")
    .description("print the DID document to publish")
    .argument("<file>", FILE)
    .option("--service <url>", "where the agent is, for callers that know only the DID; may be given several times", collect)
    .action(lazyAction(async () => (await import("../identity.js")).printDocument));
  addRotate(identity);
  identity
    .command("revoke")
    .description("take a key out of use at once, and delete its private half")
    .argument("<file>", FILE)
    .argument("<key>", "the id of the key, or what follows the # in it")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../identity.js")).revokeKey));
}

function addCreate(identity: Command): void {
  identity
    .command("create")
    .description("make an identity with new keys; an existing file is not overwritten")
    .argument("<file>", "the new identity file; its folder is made if there is none")
    .addOption(
      new Option(
        "--did <did>",
        "key, or web:HOST[:PATH], or any other DID; {fingerprint} stands for that of its first key",
      ).default("key"),
    )
    .option("--name <name>", "its name in messages (default: the file's)")
    .option(
      "--kind <kind>",
      "Ed25519, P-256, secp256k1 or X25519, the first to sign with; may be given several times (default: Ed25519, and X25519 unless --did key)",
      collect,
    )
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../identity.js")).createIdentityFile));
}

function addRotate(identity: Command): void {
  identity
    .command("rotate")
    .description("replace the keys; signatures of the old ones stay valid for a while")
    .argument("<file>", FILE)
    .option("--kind <kind>", "only keys of this kind; may be given several times", collect)
    .option("--overlap <seconds>", "how long signatures of the old keys stay valid", parseSeconds, ONE_DAY_MS)
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../identity.js")).rotateKeys));
}
