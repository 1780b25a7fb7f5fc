import { type Command, InvalidArgumentError, Option } from "commander";
import { parseCount, parsePort, parseSeconds, parseShare } from "../option-values.js";
import { addModelOptions, lazyAction, outputOption } from "./shared-options.js";

const IMPLEMENTATIONS = ["koine", "official"] as const;
const FEATURES = ["envelope", "full"] as const;
const ANSWERS = ["null", "scripted", "recorded", "live"] as const;
const FREEZE = ["topology", "planner"] as const;
const FAULTS = ["kill", "stop", "listener", "delay", "loss", "partition"] as const;
const DEPLOYMENTS = ["minimal", "recommended"] as const;
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
      addFaults(command)
        .option("--clients <number>", "clients of the closed loop (default: 1)", parseCount)
        .option("--agents <number>", "agents that are called in turn, a process each (default: 1)", parseCount)
        .option("--payload <bytes>", "text in each request (default: 256)", parseCount)
        .addOption(hostsOption()),
  },
  "streaming-queue": {
    about: "a coordinator and workers that share one queue of questions: latency and balance under load",
    answers: "scripted",
    addLoad: (command) =>
      routerOptions(addFaults(command))
        .addOption(
          countList(
            "--workers <list>",
            "workers, a process each; further numbers are measured with the same traffic (default: 4)",
          ),
        )
        .option(
          "--data <file>",
          "take the questions from this file, one JSON object with id and q per line (default: made from the seed)",
        )
        .addOption(
          new Option("--queue <where>", "where the coordinator keeps its queue (default: memory)").choices(["memory", "redis"]),
        )
        .option(
          "--kill-coordinator <entry>",
          "one more condition: kill the coordinator after so many answers and start it again (needs --queue redis)",
          parseCount,
        )
        .addOption(hostsOption()),
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
  "fail-storm": {
    about: "a ring of agents that answer questions together while some are killed: recovery, retention, lost messages",
    answers: "null",
    addLoad: (command) =>
      command
        .option("--clients <number>", "questions that are under way at a time (default: 4)", parseCount)
        .option("--agents <number>", "agents of the ring, a process each (default: 8)", parseCount)
        .addOption(
          new Option("--kill <kind>", "what hits the victims")
            .choices(["kill", "stop", "listener", "partition", "link"])
            .default("kill"),
        )
        .option("--kill-every <seconds>", "between storms (default: half of the window, so one; the paper: 120)", parseSeconds)
        .option("--kill-fraction <share>", "of the agents, or of the links, in each storm (default: 0.375)", parseShare)
        .option("--down-for <seconds>", "until a victim is started again or let go (default: 2)", parseSeconds)
        .addOption(
          choiceList("--recovery <list>", "where a killed agent gets its state back from, each a condition", [
            "journal",
            "neighbours",
            "off",
          ]).default(["journal", "off"], "journal,off"),
        )
        .option(
          "--data <file>",
          "take questions from this file, one JSON object per line as in HotpotQA and 2WikiMultihopQA (default: made from the seed)",
        ),
  },
};

/** Of scenarios about which the router has a text. */
function routerOptions(command: Command): Command {
  return command
    .option("--router", "one more arm: the protocols that the router chooses for this scenario, from its text alone")
    .option("--ranking <file>", "priors for the router's ties: a ranking, or the priors.json of an earlier result");
}

/** Options of scenarios that are measured without faults too. */
function addFaults(command: Command): Command {
  return command
    .addOption(choiceList("--faults <list>", "one more condition with each of these", FAULTS).default([], "none"))
    .option("--fault-every <seconds>", "between faults (default: a quarter of the window)", parseSeconds)
    .option("--down-for <seconds>", "how long a fault lasts (default: half of that)", parseSeconds);
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
  koine bench streaming-queue --queue redis --kill-coordinator 500 --hosts 2 --out killed
  koine bench docqa --quick --protocols a2a,acp --drop 1
  koine bench docqa --router --out routed             the router's plan beside each protocol alone
  koine bench fail-storm --quick --protocols a2a,acp  kills three of eight agents once
  koine bench safety --quick --protocols a2a          certificates, replay, capture and more, with controls
  koine bench verify results                          compute every number again from the events
  koine bench compare before after --report changes.html
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
  addSafety(bench);
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
    .option("--report <file>", "write it as a page (.html) or as Markdown (.md)")
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
      .addOption(
        choiceList("--freeze <list>", "hold what a scenario otherwise decides while it runs", FREEZE).default([], "nothing"),
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

function hostsOption(): Option {
  return new Option(
    "--hosts <number>",
    "agents on hosts of their own, which are network namespaces joined to the caller's (Linux; default: 1)",
  ).argParser(parseCount);
}

function addSafety(bench: Command): void {
  bench
    .command("safety")
    .description("probe each protocol in its minimal and recommended deployment: TLS, tokens, replay, capture, metadata")
    .addOption(listOption("--protocols <list>", "protocols by id (default: all)"))
    .addOption(choiceList("--deployments <list>", "rows of the table of deployments", DEPLOYMENTS).default(DEPLOYMENTS, "both"))
    .option("--quick", "one round of each probe; the result is marked as such")
    .addOption(listOption("--probes <list>", "only these probes (default: all)").env("KOINE_PROBES"))
    .option("--rounds <number>", "rounds of every probe (default: those of the paper)", parseCount)
    .option("--capture <seconds>", "how long the network is captured (default: 8)", parseSeconds)
    .addOption(new Option("--probe-config <json>", "members of the probe configuration, as JSON").env("KOINE_PROBE_CONFIG"))
    .optionsGroup("Output:")
    .option("--out <dir>", "keep events, result, manifest and evidence in this folder (default: koine-safety)")
    .option("--force", "write into a folder that is not empty")
    .option("--resume", "go on with the targets that are missing in the folder")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../bench-safety.js")).benchSafety));
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
