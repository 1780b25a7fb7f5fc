import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { packageFile } from "../../../src/transport/node/package-file.js";
import type { Team, TeamAgent } from "./plan/manifest.js";

/** The prompts of this scenario: files of their own, whose names end with their version. A changed text is a new version. */
export const PROMPTS = {
  base: "docqa-base.v1",
  role: "docqa-role.v1",
} as const;
export type PromptName = keyof typeof PROMPTS;

/** The text of a prompt, with `{{name}}` for what is filled in. */
export function readPrompt(name: PromptName): string {
  return readFileSync(packageFile(`bench/protocols/prompts/${PROMPTS[name]}.md`), "utf8");
}

/** Fills a prompt. A value is data: its own braces are left as they are. Throws Error for a place that has no value. */
export function fillPrompt(name: PromptName, values: Readonly<Record<string, string>>): string {
  return readPrompt(name).replace(/\{\{([a-z_]+)\}\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`the prompt ${PROMPTS[name]} has a place ${key} that is not filled`);
    return value;
  });
}

/** Every prompt as an input of the measurement. */
export function promptInputs(): readonly {
  readonly role: "prompt";
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}[] {
  return Object.entries(PROMPTS).map(([key, name]) => {
    const text = readPrompt(key as PromptName);
    return {
      role: "prompt",
      name: `${name}.md`,
      bytes: Buffer.byteLength(text),
      sha256: createHash("sha256").update(text).digest("hex"),
    };
  });
}

/** What the model that answers is asked. */
export function finalPrompt({ question, agents }: Team, { name, role }: TeamAgent, found: string): string {
  return [
    fillPrompt("base", { team: agents.map((agent) => `${agent.name} (${agent.role})`).join(", ") }),
    fillPrompt("role", { name, role }),
    `Question: ${question}`,
    `What the team has found: ${found}`,
  ].join("\n\n");
}
