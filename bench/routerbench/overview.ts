import type { BenchInputs } from "./bench.js";
import { type InputFile, sha256 } from "./inputs.js";
import { type BenchSettings, plansOf } from "./plan.js";
import { PROMPT_TEMPLATES, PROMPT_VERSION } from "./router.js";

/** `MANIFEST.yaml` as the paper lays it out: the corpus with its commit, the prompt, and the runs. Pure. */
export function overviewOf({ scenarios, prompt }: BenchInputs, settings: BenchSettings): string {
  const [only, ...more] = scenarios;
  const corpus =
    only !== undefined && more.length === 0
      ? ["corpus:", ...fileLines(only).map((line) => `  ${line}`)]
      : ["corpus:", ...scenarios.flatMap((input) => item(fileLines(input)))];
  const own = { name: PROMPT_VERSION, sha256: sha256(PROMPT_TEMPLATES.spec) };
  const { name, sha256: hash } = prompt ?? own;
  return [
    ...corpus,
    "prompts:",
    `  router_prompt: ${scalar(name)}`,
    `  sha256: "${hash}"`,
    "runs:",
    ...plansOf(settings).flatMap((plan) =>
      item([`id: ${scalar(plan.name)}`, `seed: ${settings.seed}`, `temperature: ${settings.temperature}`]),
    ),
    "",
  ].join("\n");
}

/** A hash may look like a number to YAML. */
function fileLines({ name, sha256: hash, commit }: InputFile): readonly string[] {
  return [`file: ${scalar(name)}`, `sha256: "${hash}"`, `commit: ${commit === null ? "null" : `"${commit}"`}`];
}

/** An entry of a list. */
function item([first = "", ...others]: readonly string[]): readonly string[] {
  return [`  - ${first}`, ...others.map((line) => `    ${line}`)];
}

/** Names that YAML could read as something else are quoted; a JSON string is one of YAML. */
function scalar(text: string): string {
  return /^[A-Za-z][\w+ .-]*[\w]$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text) ? text : JSON.stringify(text);
}
