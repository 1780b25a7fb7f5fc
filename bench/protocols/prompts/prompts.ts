import { readFileSync } from "node:fs";
import { packageFile } from "../../../src/transport/node/package-file.js";
import { hashOf } from "../payload.js";
import type { ManifestInput } from "../result/index.js";

/** The prompts of the scenarios. A changed text gets the next number, so that results name what was said. */
export const PROMPTS = [
  "queue-worker.v1",
  "queue-coordinator.v1",
  "shard-worker.v1",
  "local-search.v1",
  "docqa-base.v1",
  "docqa-role.v1",
] as const;
export type PromptName = (typeof PROMPTS)[number];

/** What a coordinator puts in place of this is the question. */
const QUESTION = "{question}";

export function readPrompt(name: PromptName): string {
  return readFileSync(packageFile(`bench/protocols/prompts/${name}.md`), "utf8").trimEnd();
}

/** The text that a coordinator sends for a question. */
export function askWith(prompt: string, question: string): string {
  return prompt.replace(QUESTION, () => question);
}

/** For the manifest. */
export function promptInput(name: PromptName): ManifestInput {
  const text = readPrompt(name);
  return { role: "prompt", name, bytes: Buffer.byteLength(text), sha256: hashOf(text) };
}
