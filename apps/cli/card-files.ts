import { type Command, Option } from "commander";
import { AgentError, type Json, type JsonObject } from "../../src/index.js";
import { describeCardSignature } from "../../src/internal.js";
import {
  type CardSignatureResult,
  createCardCheck,
  newCardKey,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
  signCard,
} from "../../src/public/auth.js";
import { cardKeyWarning, parseObject, readCardKey, readSmallFile, type TrustOptions, trustOf, writeNewFile } from "./card-key.js";
import { CliError, EXIT } from "./exit.js";
import { collect } from "./option-values.js";
import { createOutput, type Format } from "./output.js";
import { outputOption } from "./peer.js";

/** `koine card sign`, `verify` and `key`: cards and keys in files, without any agent. */
export function addCardFiles(card: Command): void {
  addSign(card);
  addVerify(card);
  addKey(card);
}

interface SignOptions {
  readonly key: string;
  readonly kid?: string;
  readonly jku?: string;
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
    .action(async (path: string, { key, kid, jku }: SignOptions) => {
      const output = createOutput("json");
      const signer = await readCardKey(key, { kid, jku });
      const warning = await cardKeyWarning(key);
      if (warning !== undefined) output.say(warning);
      const document = parseObject(await readSmallFile(path, "card"), path);
      const signatures = [...othersThan(signer.kid, document), ...signCard(document, signer)];
      await output.document({ ...document, signatures });
    });
}

/** The signatures of other keys stay, for the time in which both are known; our own old ones are made anew. */
function othersThan(kid: string, { signatures }: JsonObject): readonly Json[] {
  return Array.isArray(signatures) ? signatures.filter((each: Json) => kidOf(each) !== kid) : [];
}

function kidOf(signature: Json): unknown {
  try {
    const { protected: header } = signature as JsonObject; // what is not an object has no such member, or throws
    return (JSON.parse(Buffer.from(String(header), "base64url").toString("utf8")) as JsonObject)["kid"];
  } catch {
    return undefined;
  }
}

interface VerifyOptions extends TrustOptions {
  readonly output: Format;
}

function addVerify(card: Command): void {
  card
    .command("verify")
    .description("is the card signed by somebody we trust? exit code 0 if it is, 1 if not")
    .argument("<card.json>", "the card document, as it was received")
    .requiredOption("--trust <file>", "public keys: PEM, JWK or JWKS; may be given several times", collect)
    .addOption(outputOption())
    .addHelpText("after", "\nExample:\n  koine card verify signed.json --trust card-key.public.json")
    .action(async (path: string, options: VerifyOptions) => {
      const check = createCardCheck(await trustOf(options));
      const bytes = new TextEncoder().encode(await readSmallFile(path, "card"));
      const verdict = await judged(() => check(bytes));
      if (verdict.result !== "verified")
        throw new CliError(EXIT.failure, describeCardSignature(verdict), { code: verdict.result });
      const output = createOutput(options.output);
      if (output.format === "json") await output.document({ ...verdict });
      else await output.text(`${describeCardSignature(verdict)}\n`);
    });
}

/** A wrong signature is an answer of this command, not a refusal by some agent. */
async function judged(check: () => Promise<CardSignatureResult>): Promise<CardSignatureResult> {
  try {
    return await check();
  } catch (thrown) {
    const { code, message } = AgentError.from(thrown);
    throw new CliError(EXIT.failure, message, { code });
  }
}

interface KeyOptions {
  readonly alg: SigningAlgorithm;
  readonly kid?: string;
  readonly out: string;
  readonly format: "jwk" | "pem";
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
    .action(async ({ alg, kid, out, format }: KeyOptions) => {
      const key = newCardKey(alg, kid);
      const output = createOutput("json");
      const secret = format === "pem" ? `${out}.private.pem` : `${out}.private.json`;
      const published: JsonObject = { keys: [key.publicJwk] };
      await writeNewFile(secret, format === "pem" ? key.privatePem : asText(key.privateJwk), true);
      await writeNewFile(`${out}.public.json`, asText(published), false);
      output.say(`the private key is in ${secret}; keep it. The public one is in ${out}.public.json`);
      await output.document(published);
    });
}

function asText(value: JsonObject): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
