import { type Command, Option } from "commander";
import { collect } from "../option-values.js";
import { SIGNING_ALGORITHMS } from "./choices.js";
import { addPeerOptions, lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine card get http://127.0.0.1:8080
  koine card get http://127.0.0.1:8080 -o json | jq .card
  KOINE_TOKEN=… koine card get https://agent.example --extended
  koine card get https://agent.example --trust acme.public.json --require-signed`;

/** `koine card`: cards, their signatures and keys. */
export function addCard(program: Command): void {
  const card = program.command("card").description("what an agent says about itself");
  const get = card
    .command("get")
    .description("print an agent's card, and the evidence for it")
    .argument("<url>", "where the agent is");
  addPeerOptions(get)
    .option("--extended", "the card that only authenticated callers see")
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../card.js")).getCard));
  addCardFiles(card);
}

/** `koine card sign`, `verify` and `key`: cards and keys in files, without any agent. */
function addCardFiles(card: Command): void {
  addSign(card);
  addVerify(card);
  addKey(card);
}

function addSign(card: Command): void {
  card
    .command("sign")
    .description("print a card with a signature added")
    .argument("<card.json>", "the card document")
    .requiredOption("--key <file>", "the private key, PEM (PKCS#8) or JWK")
    .option("--kid <name>", "how readers find the public key (default: that of the JWK, else its thumbprint)")
    .option("--jku <url>", "where the public key is published, for readers who trust that address")
    .addHelpText("after", "\nExample:\n  koine card sign card.json --key card-key.private.json > signed.json")
    .action(lazyAction(async () => (await import("../card-files.js")).signCardFile));
}

function addVerify(card: Command): void {
  card
    .command("verify")
    .description("check that a trusted key signed the card; exit code 0 if it did, 1 if not")
    .argument("<card.json>", "the card document, as it was received")
    .requiredOption("--trust <file>", "public keys: PEM, JWK or JWKS; may be given several times", collect)
    .addOption(outputOption())
    .addHelpText("after", "\nExample:\n  koine card verify signed.json --trust card-key.public.json")
    .action(lazyAction(async () => (await import("../card-files.js")).verifyCardFile));
}

function addKey(card: Command): void {
  card
    .command("key")
    .description("make a new key to sign cards with; the public half goes to stdout, as a JWKS")
    .addOption(new Option("--alg <name>", "what it signs with").choices([...SIGNING_ALGORITHMS]).default("EdDSA"))
    .option("--kid <name>", "how readers find the public key (default: its thumbprint)")
    .option(
      "--out <name>",
      "the files are <name>.private.json or .pem, readable by you alone, and <name>.public.json",
      "card-key",
    )
    .addOption(new Option("--format <form>", "the form of the private key").choices(["jwk", "pem"]).default("jwk"))
    .addHelpText("after", "\nExample:\n  koine card key --out acme && koine card sign card.json --key acme.private.json")
    .action(lazyAction(async () => (await import("../card-files.js")).makeCardKey));
}
