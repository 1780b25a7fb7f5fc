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
  "docqa-planner.v1",
  "docqa-judge.v1",
  "docqa-summariser.v1",
  "safety-evaluator.v1",
] as const;
export type PromptName = (typeof PROMPTS)[number];

/** What a coordinator puts in place of this is the question. */
const QUESTION = "{question}";

export function readPrompt(name: PromptName): string {
  return readFileSync(packageFile(`bench/protocols/prompts/${name}.md`), "utf8").trimEnd();
}

/** Fills a prompt. A value is data: its own braces are left as they are. Throws Error for a place that has no value. */
export function fillPrompt(name: PromptName, values: Readonly<Record<string, string>>): string {
  return readPrompt(name).replace(/\{\{([a-z_]+)\}\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`the prompt ${name} has a place ${key} that is not filled`);
    return value;
  });
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
