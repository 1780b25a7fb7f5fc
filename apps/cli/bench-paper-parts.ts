import { confineProblem, type SuiteChoice, scenarios } from "../../bench/protocols/index.js";
import type { ScenarioOptions } from "./bench-plan.js";
import { defaultOptions, type PlannedPart, routerPart } from "./bench-suite-parts.js";
import { PAPER_PARAMETERS, type PaperParameter, type PaperParameterName } from "./commands/paper-parameters.js";

const MS_PER_S = 1_000;
/** A window must not end before its entries have: the limit of time is that of all of them one after the other. */
const LONGEST_WINDOW_MS = 24 * 3_600 * MS_PER_S;
const WARM_UP_MS = 500;
/** A connection is proved with requests, which no scale makes quicker: below this, identities would be measured by whether they connect at all. */
const LEAST_CONNECT_MS = 2_000;

/** The parts of `koine bench paper`, with the parameters of the choice. */
export function paperParts(choice: SuiteChoice): readonly PlannedPart[] {
  const { count, ms, perSecond } = readers(choice);
  const limits = {
    connectTimeout: Math.max(LEAST_CONNECT_MS, ms("connectTimeout")),
    messageTimeout: ms("messageTimeout"),
    retries: count("retries"),
    backoff: ms("backoff"),
    warmUp: WARM_UP_MS,
  };
  const part = (
    name: string,
    scenario: { readonly name: string; readonly answers: ScenarioOptions["answers"] },
    options: Partial<ScenarioOptions>,
  ): PlannedPart => ({
    name,
    scenario: scenario.name,
    options: { ...defaultOptions(scenario, choice), ...limits, ...options },
  });
  const queue = {
    requests: count("entries"),
    batch: count("batch"),
    perWorker: count("perWorker"),
    answerLimit: ms("answerLimit"),
    serviceMs: [ms("service")],
    serviceSpread: count("serviceSpread"),
    measure: LONGEST_WINDOW_MS,
  };
  const { batch: _, ...offered } = queue;
  return [
    part("docqa", scenarios.docqa, {
      router: true,
      questions: count("questions"),
      levels: confineProblem() === undefined ? [1, 2, 3] : [1, 2],
    }),
    part("streaming-queue", scenarios.streamingQueue, { ...queue, router: true }),
    part("queue-models", scenarios.streamingQueue, {
      ...queue,
      serviceMs: [ms("service"), ms("secondService"), ms("thirdService")],
    }),
    part("queue-scale", scenarios.streamingQueue, { ...queue, workers: [4, 8, 16, 32] }),
    part("queue-pressure", scenarios.streamingQueue, {
      ...offered,
      requests: count("volume"),
      rate: [{ perSecond: perSecond("targetQps") }],
      arrivals: "constant",
      // More is offered than the workers can answer: small delays add up in the queue, and controls would decide nothing.
      controls: false,
    }),
    part("fail-storm", scenarios.failStorm, {
      router: true,
      answers: "scripted",
      serviceMs: [ms("lookup")],
      clients: count("ringClients"),
      measure: ms("runtime"),
      killEvery: ms("killEvery"),
      killFraction: count("killFraction"),
      downFor: ms("downFor"),
      recovery: ["journal"],
      heartbeat: ms("heartbeat"),
      deadAfter: ms("heartbeatTimeout"),
      cycleTimeout: ms("cycleTimeout"),
    }),
    {
      name: "safety",
      scenario: "safety",
      options: {
        output: "text",
        deployments: ["minimal", "recommended"],
        capture: ms("capture"),
        router: true,
        ...(choice.protocols === null ? {} : { protocols: choice.protocols }),
      },
    },
    routerPart("streaming-queue"),
  ];
}

/** The parameters in the units of options, scaled. */
function readers({ parameters, timeScale }: SuiteChoice) {
  const of = (name: PaperParameterName): number => parameters[name] ?? PAPER_PARAMETERS[name].value;
  return {
    count: of,
    ms: (name: PaperParameterName): number => Math.max(1, Math.round((of(name) * MS_PER_S) / timeScale)),
    perSecond: (name: PaperParameterName): number => of(name) * timeScale,
  };
}

/** The names of the parameters that the time scale changes. */
export function scaledParameters(): string[] {
  return Object.entries<PaperParameter>(PAPER_PARAMETERS)
    .filter(([, { kind }]) => kind === "time" || kind === "rate")
    .map(([name]) => name);
}
