import { protocols } from "../../../src/public/protocols.js";
import { CAPABILITIES, featureRows } from "../../../src/router/index.js";
import type { Table } from "../../harness/table.js";
import type { SuiteResults } from "./read-parts.js";

/** The paper's table 1: utility, communication method, characteristics, scenarios. */
const PAPER_PROTOCOLS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  a2a: ["Enterprise coordination", "Structured", "Consistent throughput", "Large-scale mission-critical"],
  acp: ["Framework integration", "Async", "Framework-dependent", "Cross-platform collaboration"],
  anp: ["Security routing", "Targeted", "Variable latency", "Document aggregation"],
  agora: ["Decentralized workflows", "P2P", "Network-dependent", "Dynamic networks"],
};

/** What each protocol is for and supports, from the tables that the router decides by. */
export function protocolTable(): Table {
  const labels = new Map<string, string>(CAPABILITIES.map(({ id, label }) => [id, label]));
  return {
    title: "The protocols",
    head: [
      "Protocol",
      "Primary utility",
      "paper",
      "Communication method",
      "paper",
      "System characteristics",
      "paper",
      "Representative scenarios: paper",
    ],
    rows: featureRows().map(({ id, name, title, orientation }) => {
      const [utility = "–", method = "–", system = "–", scenarios = "–"] = PAPER_PROTOCOLS[id] ?? [];
      const traits = protocols.find((each) => each.id === id)?.traits;
      const made = orientation.map((each) => labels.get(each) ?? each).join(", ");
      const ways = [
        "requests",
        ...(traits?.streaming === true ? ["streams"] : []),
        ...(traits?.tasks === true ? ["tasks"] : []),
        ...(traits?.inputTurns === true ? ["questions back"] : []),
      ];
      const guarantees = [
        `signed: ${traits?.signed ?? "–"}`,
        `sealed: ${traits?.sealed ?? "–"}`,
        ...(traits?.resume === true ? ["resumable streams"] : []),
        ...(traits?.idempotentSend === true ? ["idempotent sends"] : []),
      ];
      return [
        `${name} (${title})`,
        made === "" ? "–" : made,
        utility,
        ways.join(", "),
        method,
        guarantees.join(", "),
        system,
        scenarios,
      ];
    }),
    note: "Ours is what the implementations declare and the router decides by. The paper characterises protocols in words; nothing in it measures them.",
  };
}

/** The paper's table 2, with the part of the suite and the number that decides in it. */
const SCENARIOS: readonly (readonly [scenario: string, part: string, metrics: string, feature: string, here: string])[] = [
  [
    "GAIA",
    "docqa",
    "Success rate, Traj quality",
    "Hierarchical routing",
    "Right answers (exact), quality by rule, messages over the wire",
  ],
  [
    "Safety Tech",
    "safety",
    "Security Score, Probe Block Rate",
    "Security probing",
    "Block and success rate of each probe, with evidence and controls",
  ],
  [
    "Streaming Queue",
    "streaming-queue",
    "P95 latency, Drop rate",
    "Load balancing",
    "P95 per run, drops, balance of the workers",
  ],
  [
    "Fail-Storm Recovery",
    "fail-storm",
    "Recovery time, Success rate drop",
    "Fault detection/recovery",
    "Recovery through each killed process, right answers before and after",
  ],
];

export function scenarioTable({ benches, safety }: SuiteResults): Table {
  const requests = (part: string): string => {
    if (part === "safety")
      return safety === undefined ? "–" : `${safety.probes.reduce((sum, { attempts }) => sum + attempts, 0)} attempts`;
    const result = benches.get(part);
    return result === undefined ? "–" : `${result.runs.reduce((sum, run) => sum + run.requests.sent, 0)} requests`;
  };
  return {
    title: "The scenarios",
    head: ["Scenario", "here", "paper: key metrics", "paper: key feature", "what decides here", "measured"],
    rows: SCENARIOS.map(([scenario, part, metrics, feature, here]) => [
      scenario,
      `koine bench ${part}`,
      metrics,
      feature,
      here,
      requests(part),
    ]),
  };
}
