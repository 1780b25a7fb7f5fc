import type { Table } from "../../../harness/table.js";
import { originTable } from "../../report/origin.js";
import type { SafetyManifest } from "../folder.js";
import { COLUMNS, type Column, type ProbeSummary, type SafetyResult, type TargetSummary } from "../result/result.js";
import { paperSays } from "./paper.js";

const VERDICT_MARKS = { held: "✓", broken: "✗", open: "?" } as const;
const COLUMN_TITLES: { readonly [column in Column]: string } = {
  tls: "TLS",
  hijack: "hijack",
  e2e: "end to end",
  sniffing: "sniffing",
  metadata: "metadata",
  messages: "messages",
};

/** The five columns of the paper beside ours, and one for the messages themselves. */
export function matrixTable({ targets }: SafetyResult): Table {
  const cell = ({ target, columns }: TargetSummary, column: Column): string => {
    const ours = columns[column];
    const paper = paperSays(target.protocol, column);
    return `${ours === null ? "–" : VERDICT_MARKS[ours]}${paper === undefined ? "" : ` (${paper ? "✓" : "✗"})`}`;
  };
  return {
    title: "Security matrix",
    head: [
      "target",
      ...COLUMNS.map((column) => COLUMN_TITLES[column]),
      "score",
      "connection",
      "callers",
      "messages are",
      "cases answered",
    ],
    rows: targets.map((each) => [
      each.target.id,
      ...COLUMNS.map((column) => cell(each, column)),
      each.score === null ? "–" : each.score.toFixed(1),
      each.target.row.transport,
      each.target.row.callers,
      each.target.row.messages,
      `${each.consultations.count}/${each.consultations.of}`,
    ]),
    note:
      "✓ every attempt was blocked, ✗ at least one succeeded, ? some are inconclusive, – not probed. In parentheses: what the paper's Table 3d says, " +
      "which has no column for replay, clocks, order and tampering (messages). The score is the mean of the block rates of all probes, each with the same weight.",
  };
}

/** Block and success rate of each probe at each target. */
export function rateTable({ probes }: SafetyResult): Table {
  return {
    title: "Probes",
    head: ["target", "probe", "blocked", "95 %", "succeeded", "95 %", "inconclusive"],
    rows: probes.map(({ target, probe, blocked, succeeded, inconclusive }) => [
      ...[target, probe, `${blocked.count}/${blocked.of}`, interval(blocked)],
      ...[`${succeeded.count}/${succeeded.of}`, interval(succeeded), String(inconclusive)],
    ]),
    note: "Scored attempts only, with Wilson's 95 % intervals. An inconclusive attempt is neither blocked nor succeeded.",
  };
}

function interval({ low, high }: ProbeSummary["blocked"]): string {
  return low === null || high === null ? "–" : `${percent(low)}–${percent(high)} %`;
}

function percent(share: number): string {
  return (100 * share).toFixed(0);
}

/** Every variant of the probes of one target, with the refusal that was seen. */
export function variantTable({ probes }: SafetyResult, target: string): Table {
  return {
    title: `Attempts at ${target}`,
    head: ["probe", "variant", "blocked", "succeeded", "inconclusive", "scored", "what was seen", "evidence"],
    rows: probes
      .filter((each) => each.target === target)
      .flatMap(({ probe, variants }) =>
        variants.map((each) => [
          ...[probe, each.variant, String(each.blocked), String(each.succeeded), String(each.inconclusive)],
          ...[each.scored ? "yes" : "no", each.reasons.join("; "), each.evidence[0] ?? ""],
        ]),
      ),
  };
}

export function safetyOrigin(manifest: SafetyManifest): Table {
  const { loadBefore, config, events, evidence } = manifest;
  return originTable(manifest, [
    ["load before", loadBefore.toFixed(2)],
    ["probe configuration", JSON.stringify(config)],
    ["events", events === null ? "–" : `${events.lines}, SHA-256 ${events.sha256}`],
    ["evidence", evidence === null ? "–" : `${evidence.files} files, SHA-256 ${evidence.sha256}`],
  ]);
}
