import { type Command, InvalidArgumentError, Option } from "commander";
import { parseCount, parsePort, parseSeconds } from "../option-values.js";
import { addModelOptions, lazyAction, outputOption } from "./shared-options.js";

const IMPLEMENTATIONS = ["koine", "official"] as const;
const FEATURES = ["envelope", "full"] as const;
const ANSWERS = ["null", "scripted", "recorded", "live"] as const;
const FAULTS = ["kill", "stop", "listener", "delay", "loss", "partition"] as const;
/** A scenario of the benchmark, which is loaded only when it runs. */
interface ScenarioCommand {
  readonly about: string;
  readonly answers: (typeof ANSWERS)[number];
  /** Options that only this scenario has. */
  addLoad(command: Command): Command;
}

const SCENARIOS: Readonly<Record<string, ScenarioCommand>> = {
  echo: {
    about: "one request, one answer of the same text: what a protocol costs by itself",
    answers: "null",
    addLoad: (command) =>
      command
        .option("--clients <number>", "clients of the closed loop (default: 1)", parseCount)
        .option("--agents <number>", "agents that are called in turn, a process each (default: 1)", parseCount)
        .option("--payload <bytes>", "text in each request (default: 256)", parseCount),
  },
  "streaming-queue": {
    about: "a coordinator and workers that share one queue of questions: latency and balance under load",
    answers: "scripted",
    addLoad: (command) =>
      routerOptions(command)
        .addOption(
          countList(
            "--workers <list>",
            "workers, a process each; further numbers are measured with the same traffic (default: 4)",
          ),
        )
        .option(
          "--data <file>",
          "take the questions from this file, one JSON object with id and q per line (default: made from the seed)",
        ),
  },
  docqa: {
    about: "teams of 2, 4 or 8 agents answer questions about documents: how often they are right, and what their messages cost",
    answers: "null",
    addLoad: (command) =>
      routerOptions(command)
        .addOption(
          countList("--levels <list>", "levels of questions: 1, 2 and 3, with teams of 2, 4 and 8 agents (default: all)"),
        )
        .option("--questions <number>", "questions of each level (default: 12; with --quick 2)", parseCount)
        .option("--budget <seconds>", "how long a team may take for a question (default: 20; with --quick 8)", parseSeconds)
        .option("--clients <number>", "questions that are asked at a time (default: 1)", parseCount)
        .option("--drop <number>", "one more condition in which so many messages of each question are lost", parseCount)
        .option("--late <number>", "one more condition in which so many come after the answer", parseCount)
        .option("--reorder <number>", "one more condition in which so many change places with the next", parseCount),
  },
};

/** Of scenarios about which the router has a text. */
function routerOptions(command: Command): Command {
  return command
    .option("--router", "one more arm: the protocols that the router chooses for this scenario, from its text alone")
    .option("--ranking <file>", "priors for the router's ties: a ranking, or the priors.json of an earlier result");
}

const EXAMPLES = `
Examples:
  koine bench echo --quick                            all protocols, about two minutes
  koine bench echo --protocols a2a,acp --out results  ten runs of each, kept in a folder
  koine bench echo --rate 50,100,200 --out results    offered loads instead of a closed loop
  koine bench echo --faults kill,partition --agents 3
  koine bench streaming-queue --quick --protocols a2a,acp
  koine bench streaming-queue --rate 10%,50%,90%,120% --out load
  koine bench streaming-queue --workers 4,8,16,32,256 --out scale
  koine bench docqa --quick --protocols a2a,acp --drop 1
  koine bench docqa --router --out routed             the router's plan beside each protocol alone
  koine bench verify results                          compute every number again from the events
  koine bench compare before after
  koine bench echo --resume --out results             go on after an interruption

Each result has two controls: a second copy of the first arm, which must come out equal, and one with 5 ms added, which must be
found. Exit code 1 means that something was not measured, that a check failed, or that verify found a difference.`;

/** `koine bench`: measures protocols against each other. */
export function addBench(program: Command): void {
  const bench = program
    .command("bench")
    .description("measure protocols against each other, with results that can be verified")
    .addHelpText("after", EXAMPLES);
  for (const [name, scenario] of Object.entries(SCENARIOS)) addScenario(bench, name, scenario);
  bench
    .command("verify")
    .description("compute every number of a result again from its events")
    .argument("<dir>", "the folder that --out named")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../bench-folders.js")).verify));
  bench
    .command("memory")
    .description("show what the teams of docqa did, question by question, and replay it")
    .argument("<dir>", "the folder that --out named")
    .argument("[task]", "only this question, for example L2-Q1")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../bench-folders.js")).memory));
  bench
    .command("compare")
    .description("show what changed between two results of one scenario")
    .argument("<before>", "a folder that --out named")
    .argument("<after>", "another one")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../bench-folders.js")).compare));
}

function addScenario(bench: Command, name: string, { about, answers, addLoad }: ScenarioCommand): void {
  const command = addLoad(
    bench
      .command(name)
      .description(about)
      .addOption(listOption("--protocols <list>", "protocols by id (default: all)"))
      .addOption(choiceList("--impl <list>", "whose implementation", IMPLEMENTATIONS).default(["koine"], "koine"))
      .addOption(
        choiceList("--features <list>", "a bare message, or streams and tasks too", FEATURES).default(["envelope"], "envelope"),
      )
      .addOption(new Option("--quick", "three short runs; the result is marked as such").conflicts("full"))
      .option("--full", "ten runs (default)")
      .option("--runs <number>", "runs of each arm, one per block (R)", parseCount)
      .option("--warm-up <seconds>", "before the measured window (W)", parseSeconds)
      .option("--measure <seconds>", "the limit of the measured window (T_meas)", parseSeconds)
      .option("--requests <number>", "the window also ends after so many requests", parseCount)
      .option("--seed <number>", "of orders, payloads, arrivals and faults", parseCount)
      .optionsGroup("Load:"),
  )
    .addOption(rateList("--rate <list>", "offered loads in requests per second or, as in 50%, of the measured capacity"))
    .addOption(new Option("--arrivals <kind>", "of an offered load").choices(["poisson", "constant"]).default("poisson"))
    .addOption(choiceList("--faults <list>", "one more condition with each of these", FAULTS).default([], "none"))
    .option("--fault-every <seconds>", "between faults (default: a quarter of the window)", parseSeconds)
    .option("--down-for <seconds>", "how long a fault lasts (default: half of that)", parseSeconds)
    .optionsGroup("Output:")
    .option("--out <dir>", "keep events, result and manifest in this folder (default: koine-bench)")
    .option("--force", "write into a folder that is not empty")
    .option("--resume", "go on with the runs that are missing in the folder")
    .option("--base-port <number>", "the first port that callers use (default: any free ones)", parsePort)
    .addOption(outputOption());
  addModelOptions(command)
    .addOption(new Option("--answers <mode>", "where agents take their answers from").choices(ANSWERS).default(answers))
    .addOption(
      countList("--service-ms <list>", "mean service times of scripted answers; further ones are further models (default: 20)"),
    )
    .option("--recording <file>", "the answers of the mode `recorded`")
    .option("--record <file>", "keep the answers of the mode `live` in this file")
    .option("--model-rate <number>", "the most requests per second to the model", parseCount)
    .action(lazyAction(async () => (await import("../bench.js")).benchScenario(name)));
}

function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => wordsOf(text));
}

function choiceList(flags: string, description: string, known: readonly string[]): Option {
  return new Option(flags, `${description} (${known.join(", ")})`).argParser((text) =>
    wordsOf(text).map((word) => {
      if (!known.includes(word)) throw new InvalidArgumentError(`It is a list of ${known.join(", ")}.`);
      return word;
    }),
  );
}

function rateList(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) =>
    wordsOf(text).map((word) => {
      const isShare = word.endsWith("%");
      const value = Number(isShare ? word.slice(0, -1) : word);
      if (!(value > 0) || !Number.isFinite(value))
        throw new InvalidArgumentError("It is a list of numbers above 0, or of such with %.");
      return isShare ? { ofCapacity: value / 100 } : { perSecond: value };
    }),
  );
}

function countList(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => wordsOf(text).map(parseCount));
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.split(",").map((word) => word.trim()))].filter((word) => word !== "");
}
