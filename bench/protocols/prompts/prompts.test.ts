import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { askWith, PROMPTS, promptInput, readPrompt } from "./prompts.js";

it("has a file for every prompt, and no other", () => {
  const files = readdirSync(new URL("./", import.meta.url)).filter((name) => name.endsWith(".md"));
  expect(files.sort()).toEqual(PROMPTS.map((name) => `${name}.md`).sort());
  for (const name of PROMPTS) expect(promptInput(name)).toMatchObject({ role: "prompt", name, bytes: readPrompt(name).length });
});

it("limits a worker of the queue to 150 words, and asks a question as it is", () => {
  expect(readPrompt("queue-worker.v1")).toContain("at most 150 words");
  const asked = askWith(readPrompt("queue-coordinator.v1"), "what is $& worth?");
  expect(asked).toMatch(/\n\nQuestion: what is \$& worth\?$/);
});
