import { type Command, Option } from "commander";
import { parseCount, parsePort, parseSeconds, parseShare } from "../option-values.js";
import { addSuites } from "./bench-suite.js";
import { choiceList, countList, listOption, rateList } from "./list-options.js";
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
      modelsOption(routerOptions(addFaults(command)))
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
        .option(
          "--batch <entries>",
          "load so many entries at a time, the next ones when these have ended (default: all)",
          parseCount,
        )
        .option("--per-worker <entries>", "entries that a worker has at a time (default: 1)", parseCount)
        .option("--answer-limit <seconds>", "how long an entry may take with all attempts (default: no limit)", parseSeconds)
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
        .addOption(
          new Option(
            "--planner <who>",
            "who puts the teams together (default: the model of --answers live or recorded, otherwise the rule)",
          ).choices(["rule", "model"]),
        )
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
      modelsOption(routerOptions(command))
        .option(
          "--clients <number>",
          "ask as fast as answers come, with so many questions under way (default: 20 questions per second)",
          parseCount,
        )
        .option("--agents <number>", "agents of the ring, a process each (default: 8)", parseCount)
        .addOption(
          choiceList("--kill <list>", "what hits the victims, each a condition", [
            "kill",
            "stop",
            "listener",
            "partition",
            "link",
          ]).default(["kill"], "kill"),
        )
        .option("--kill-every <seconds>", "between storms (default: half of the window, so one; the paper: 120)", parseSeconds)
        .option("--kill-fraction <share>", "of the agents, or of the links, in each storm (default: 0.375)", parseShare)
        .option("--down-for <seconds>", "until a victim is started again or let go (default: 2)", parseSeconds)
        .option("--heartbeat <seconds>", "between heartbeats (default: 0.25; the paper: 10)", parseSeconds)
        .option("--dead-after <seconds>", "of silence until a peer is taken for dead (default: 1; the paper: 30)", parseSeconds)
        .option("--cycle-timeout <seconds>", "until the coordinator asks another agent (default: 4; the paper: 15)", parseSeconds)
        .addOption(
          choiceList(
            "--recovery <list>",
            "where a killed agent gets its state back from, each a condition; default: journal and off, with --quick journal",
            ["journal", "neighbours", "off"],
          ),
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

function modelsOption(command: Command): Command {
  return command.addOption(
    listOption("--models <list>", "live models by name instead of --model; further ones are conditions of their own").conflicts(
      "model",
    ),
  );
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
  koine bench judge results --model-url https://models.example/v1 --model NAME
  koine bench all --quick --out all                   every scenario, one report, under ten minutes
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
  addSuites(bench);
  bench
    .command("verify")
    .description("compute every number of a result again from its events")
    .argument("<dir>", "the folder that --out named")
    .addOption(outputOption())
    .action(lazyAction(async () => (await import("../bench-folders.js")).verify));
  addModelOptions(
    bench
      .command("judge")
      .description(
        "have a model judge the answers of docqa or the attempts of safety, some times each, and compare it with the rule",
      )
      .argument("<dir>", "the folder that --out named")
      .option("--times <number>", "how often the model judges each of them (default: 3)", parseCount)
      .option("--model-rate <number>", "the most requests per second to the model", parseCount)
      .addOption(outputOption()),
  ).action(lazyAction(async () => (await import("../bench-judge.js")).judge));
  addModelOptions(
    bench
      .command("memory")
      .description("show what the teams of docqa did, question by question, and replay it; with a model, it writes the summary")
      .argument("<dir>", "the folder that --out named")
      .argument("[task]", "only this question, for example L2-Q1")
      .addOption(outputOption()),
  ).action(lazyAction(async () => (await import("../bench-judge.js")).memory));
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
    .optionsGroup("Limits:")
    .option("--connect-timeout <seconds>", "to connect (default: 10)", parseSeconds)
    .option("--message-timeout <seconds>", "for one message (default: 30)", parseSeconds)
    .option("--retries <number>", "by the caller, the only owner of retries (default: 3)", parseCount)
    .option("--backoff <seconds>", "before the first retry; doubled each time (default: 0.1)", parseSeconds)
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
    .option("--service-spread <share>", "their deviation by their mean, lognormal (default: exponential)", parseShare)
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
  const safety = bench
    .command("safety")
    .description("probe each protocol in its minimal and recommended deployment: TLS, tokens, replay, capture, metadata");
  routerOptions(safety)
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
