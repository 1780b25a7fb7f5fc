import { type Command, InvalidArgumentError, Option } from "commander";
import { parseCount, parseShare } from "../option-values.js";
import { listOption } from "./list-options.js";
import { PAPER_PARAMETERS, type PaperParameter } from "./paper-parameters.js";
import { lazyAction, outputOption } from "./shared-options.js";

/** The commands that run several scenarios into one folder. */
export function addSuites(bench: Command): void {
  const all = bench
    .command("all")
    .description("every scenario over every protocol, with one report and the paper's tables")
    .addOption(new Option("--smoke", "shows in a few minutes that everything runs; no measurement").conflicts("quick"))
    .option("--quick", "under ten minutes on two cores; the results are marked as such");
  addCommon(all, "koine-bench-all").action(lazyAction(async () => (await import("../bench-suite.js")).benchAll));
  const paper = bench
    .command("paper")
    .description("the experiments of the ProtocolBench paper with its parameters, and all its tables")
    .option(
      "--time-scale <number>",
      "divide times by this, multiply rates with it; 20 takes hours instead of days",
      parsePositive,
      1,
    );
  addCommon(paper, "koine-bench-paper")
    .optionsGroup("Parameters (seconds are unscaled):")
    .action(lazyAction(async () => (await import("../bench-suite.js")).benchPaper));
  for (const { flag, value, kind, about } of Object.values<PaperParameter>(PAPER_PARAMETERS))
    paper.option(`${flag} <${PLACES[kind]}>`, `${about} (default: ${value})`, PARSERS[kind]);
}

const PLACES = { time: "seconds", rate: "number", count: "number", share: "share" } as const;
const PARSERS = { time: parsePositive, rate: parsePositive, count: parseCount, share: parseShare } as const;

function parsePositive(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0) || !Number.isFinite(value)) throw new InvalidArgumentError("It is a number above 0.");
  return value;
}

function addCommon(command: Command, folder: string): Command {
  return command
    .addOption(listOption("--protocols <list>", "protocols by id (default: all)"))
    .addOption(listOption("--only <list>", "only these parts, by the names of their folders (default: all)"))
    .option("--runs <number>", "runs of each arm in every part (default: that of the part)", parseCount)
    .option("--seed <number>", "of orders, payloads, arrivals and faults", parseCount)
    .optionsGroup("Output:")
    .option("--out <dir>", `keep every result and the combined report in this folder (default: ${folder})`)
    .option("--force", "write into a folder that is not empty")
    .option("--resume", "go on with what is missing in the folder, with the choices that it was begun with")
    .addOption(outputOption());
}
