import { AgentError, type Json, type JsonObject } from "../../src/index.js";
import { describeCardSignature } from "../../src/internal.js";
import { type CardSignatureResult, createCardCheck, newCardKey, type SigningAlgorithm, signCard } from "../../src/public/auth.js";
import { cardKeyWarning, parseObject, readCardKey, readSmallFile, type TrustOptions, trustOf, writeNewFile } from "./card-key.js";
import { CliError, EXIT } from "./exit.js";
import { createOutput, type Format } from "./output.js";

interface SignOptions {
  readonly key: string;
  readonly kid?: string;
  readonly jku?: string;
}

/** `koine card sign`. */
export async function signCardFile(path: string, { key, kid, jku }: SignOptions): Promise<void> {
  const output = createOutput("json");
  const signer = await readCardKey(key, { kid, jku });
  const warning = await cardKeyWarning(key);
  if (warning !== undefined) output.say(warning);
  const document = parseObject(await readSmallFile(path, "card"), path);
  const signatures = [...othersThan(signer.kid, document), ...signCard(document, signer)];
  await output.document({ ...document, signatures });
}

/** Signatures of other keys stay, for key rotation; those of this key are replaced. */
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

/** `koine card verify`. */
export async function verifyCardFile(path: string, options: VerifyOptions): Promise<void> {
  const check = createCardCheck(await trustOf(options));
  const bytes = new TextEncoder().encode(await readSmallFile(path, "card"));
  const outcome = await checkedResult(() => check(bytes));
  if (outcome.result !== "verified") throw new CliError(EXIT.failure, describeCardSignature(outcome), { code: outcome.result });
  const output = createOutput(options.output);
  if (output.format === "json") await output.document({ ...outcome });
  else await output.text(`${describeCardSignature(outcome)}\n`);
}

/** An invalid signature is a result of this command, not an error of an agent. */
async function checkedResult(check: () => Promise<CardSignatureResult>): Promise<CardSignatureResult> {
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

/** `koine card key`. */
export async function makeCardKey({ alg, kid, out, format }: KeyOptions): Promise<void> {
  const key = newCardKey(alg, kid);
  const output = createOutput("json");
  const secret = format === "pem" ? `${out}.private.pem` : `${out}.private.json`;
  const published: JsonObject = { keys: [key.publicJwk] };
  await writeNewFile(secret, format === "pem" ? key.privatePem : asText(key.privateJwk), true);
  await writeNewFile(`${out}.public.json`, asText(published), false);
  output.say(`the private key is in ${secret}; keep it. The public one is in ${out}.public.json`);
  await output.document(published);
}

function asText(value: JsonObject): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
