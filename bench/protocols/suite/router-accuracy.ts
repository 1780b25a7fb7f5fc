import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Table } from "../../harness/table.js";
import { FolderError } from "../folder/folder.js";

/** The file with the numbers of the router benchmark, in the folder of its part. */
const METRICS = "metrics.json";
const SHARE = z.looseObject({ value: z.number().nullable(), of: z.number() });
const ACCURACY = z.looseObject({ scenarios: SHARE, modules: SHARE });

/** What is read of it. */
const REPORT = z.looseObject({
  settings: z.looseObject({ ranking: z.array(z.string()) }),
  inputs: z.array(z.looseObject({ name: z.string(), scenarios: z.number(), modules: z.number() })),
  runs: z.array(
    z.looseObject({
      name: z.string(),
      metrics: ACCURACY.extend({
        macroF1: z.number().nullable(),
        levels: z.array(ACCURACY.extend({ part: z.number().nullable() })),
      }),
    }),
  ),
});
export type RouterAccuracy = z.infer<typeof REPORT>;

/** Undefined: the router was not measured. */
export function readAccuracy(folder: string): RouterAccuracy | undefined {
  const path = join(folder, METRICS);
  if (!existsSync(path)) return undefined;
  try {
    return REPORT.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new FolderError(`${path} is not the file of a router benchmark`);
  }
}

/** The paper's table 6: scenario accuracy of spec-only and spec+perf, then module accuracy. */
const PAPER: Readonly<Record<string, readonly [string, string, string, string]>> = {
  all: ["0.535", "0.633", "0.712", "0.817"],
  1: ["0.750", "0.667", "0.750", "0.667"],
  2: ["0.500", "0.583", "0.708", "0.750"],
  3: ["0.750", "0.750", "0.861", "0.889"],
  4: ["0.500", "0.917", "0.771", "0.958"],
  5: ["0.100", "0.250", "0.540", "0.717"],
};
const PAPER_F1 = { spec: "0.721", "spec+perf": "0.824" } as const;

type Accuracy = z.infer<typeof ACCURACY>;

export function accuracyTable({ runs, inputs, settings }: RouterAccuracy): Table {
  const metricsOf = (mode: string) => runs.find(({ name }) => name === mode)?.metrics;
  const [spec, perf] = [metricsOf("spec"), metricsOf("spec+perf")];
  const text = (value: number | null | undefined) => (value == null ? "–" : value.toFixed(3));
  const row = (
    name: string,
    a: Accuracy | undefined,
    b: Accuracy | undefined,
    paper: readonly string[] = ["–", "–", "–", "–"],
  ) => [
    `${name} (${a?.scenarios.of ?? 0} scen / ${a?.modules.of ?? 0} mods)`,
    ...[a?.scenarios.value, paper[0], b?.scenarios.value, paper[1], a?.modules.value, paper[2], b?.modules.value, paper[3]].map(
      (each) => (typeof each === "string" ? each : text(each)),
    ),
  ];
  const levels = spec?.levels.flatMap(({ part }) => part ?? []) ?? [];
  const at = (metrics: typeof spec, level: number) => metrics?.levels.find(({ part }) => part === level);
  return {
    title: "Router selection correctness",
    head: [
      "Split",
      ...[
        "Scenario: spec-only",
        "paper",
        "Scenario: spec+perf",
        "paper",
        "Module: spec-only",
        "paper",
        "Module: spec+perf",
        "paper",
      ],
    ],
    rows: [
      row("Overall", spec, perf, PAPER["all"]),
      ...levels.map((level) => row(`L${level}`, at(spec, level), at(perf, level), PAPER[level])),
      ["macro-F1", "–", "–", "–", "–", text(spec?.macroF1), PAPER_F1.spec, text(perf?.macroF1), PAPER_F1["spec+perf"]],
    ],
    note:
      `Ours: ${inputs.map(({ name, scenarios, modules }) => `${name} (${scenarios} scenarios, ${modules} modules)`).join(", ")}, written for this project; the router decides by rule, offline. ` +
      `Priors of spec+perf: ${settings.ranking.join(", ")}, the best first; they act only where the text leaves a tie. The paper's figures are those of a model on its own scenarios, ` +
      "of which spec-only scored 58 of 60; its spec+perf prompt shows four of them solved. `koine routerbench FILE` measures with other files.",
  };
}

/** The paper's table 8: how many scenarios and modules each level has. */
export function levelsTable({ runs }: RouterAccuracy): Table {
  const levels = runs[0]?.metrics.levels ?? [];
  const paper = (level: number | null) => (level === null ? ["–", "–"] : ["12", String(12 * level)]);
  const sum = (of: (accuracy: Accuracy) => number) => String(levels.reduce((total, each) => total + of(each), 0));
  return {
    title: "Difficulty breakdown",
    head: ["Level", "# Scenarios", "paper", "Modules per scenario", "# Modules", "paper"],
    rows: [
      ...levels.map(({ part, scenarios, modules }) => {
        const [scenariosThere = "–", modulesThere = "–"] = paper(part);
        const each = scenarios.of === 0 ? "–" : String(modules.of / scenarios.of);
        return [`L${part ?? "?"}`, String(scenarios.of), scenariosThere, each, String(modules.of), modulesThere];
      }),
      ["Total", sum(({ scenarios }) => scenarios.of), "60", "–", sum(({ modules }) => modules.of), "180"],
    ],
  };
}
