import type { BenchResult, Comparison, Manifest } from "../result/index.js";
import { conclusionOf } from "../statistics/index.js";
import { BYTE_LEGEND, byteChart, type Legend, loadChart, loadCurves, TIME_LEGEND, timeChart } from "./breakdown-charts.js";
import { ecdfChart, estimateChart, forestChart, percentileChart } from "./charts.js";
import { docqaPanels } from "./docqa-panels.js";
import type { Panel } from "./panel.js";
import { paperPanels } from "./paper-tables.js";
import { coordinatorTable, modelTable, queueTable, scaleTable, workerTable } from "./queue-tables.js";
import { recoveryCostTable } from "./recovery-cost.js";
import { routerPanels } from "./router-panels.js";
import { stormPanels } from "./storm-panels.js";
import * as tables from "./tables.js";
import { type ConditionView, conditionTitle, conditionViews } from "./view.js";
import { METRIC_WORDS, quantity, range } from "./words.js";

/** Panels under one heading. */
export interface ReportSection {
  readonly id: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  /** Closed until it is asked for: one of many conditions. */
  readonly folded: boolean;
}

/** Everything between the controls and the manifest, as data: HTML and Markdown are two ways to write it. */
export function sectionsOf(result: BenchResult): readonly ReportSection[] {
  const views = conditionViews(result).filter(({ arms }) => arms.some(({ runs }) => runs.length > 0));
  const sections = views.map((view, index) => ({
    id: `condition-${index + 1}`,
    title: conditionTitle(view.condition),
    panels: [
      ...docqaPanels(result, view.condition.id, index + 1),
      ...routerPanels(result, view.condition.id, index + 1),
      ...panelsOf(view, index + 1, result.plan.marginUs),
      ...(result.plan.settings.dispatch === "queue" ? queuePanels(view, index + 1) : []),
      ...(result.plan.settings.dispatch === "ring" ? stormPanels(view, index + 1) : []),
    ],
    folded: index > 0,
  }));
  return [
    ...loadSection(views),
    ...scaleSection(views, result.plan.settings.agents),
    ...modelSection(views),
    ...recoverySection(views),
    ...sections,
    ...paperSection(result.plan.settings.dispatch === "queue" ? paperPanels(views, result.plan.settings.agents) : []),
  ];
}

function panelsOf(view: ConditionView, number: number, marginUs: number): readonly Panel[] {
  const pairs = view.comparisons.filter(({ metric }) => metric === view.primary);
  const { title } = METRIC_WORDS[view.primary];
  const legend = armLegend(view);
  const first = tables.firstTokenTable(view);
  const has = <T>(values: readonly T[]) => values.length > 0;
  const panel = (id: string, rest: Omit<Panel, "id">): Panel => ({ id: `${id}-${number}`, ...rest });
  return [
    panel("estimate", {
      title: `How much: ${title}`,
      sentence: "Each small dot is a run; the large one is their mean, the bar its 95 % interval. Further left is less.",
      chart: { svg: () => estimateChart(view), legend: [] },
      table: tables.estimateTable(view),
    }),
    ...(has(pairs)
      ? [
          panel("pairs", {
            title: "Which differ: every pair",
            sentence: pairSentence(pairs),
            ...(pairs.some(({ shift }) => shift !== null)
              ? { chart: { svg: () => forestChart(view, pairs, marginUs), legend: FOREST } }
              : {}),
            table: tables.pairTable(view, pairs, marginUs),
          }),
        ]
      : []),
    panel("distribution", {
      title: "How long requests take",
      sentence:
        "Each curve rises to the share of requests that were answered within a time. Further left is faster, steeper is steadier.",
      chart: { svg: () => ecdfChart(view), legend },
      table: tables.percentileTable(view),
    }),
    panel("tail", {
      title: "The slowest requests",
      sentence:
        "The same latencies, stretched towards the slow end; the band spans the least and the largest run. " +
        "Percentiles that the requests of a run cannot show are left out.",
      chart: { svg: () => percentileChart(view), legend },
      table: tables.percentileTable(view),
    }),
    ...(first === undefined
      ? []
      : [
          panel("first-token", {
            title: "The first token",
            sentence: "When the first piece of a streamed answer was there.",
            table: first,
          }),
        ]),
    panel("time", {
      title: "Where the time goes",
      sentence: timeSentence(view),
      chart: { svg: () => timeChart(view), legend: TIME_LEGEND },
      table: tables.timeTable(view),
    }),
    panel("bytes", {
      title: "What goes over the wire",
      sentence: byteSentence(view),
      chart: { svg: () => byteChart(view), legend: BYTE_LEGEND },
      table: tables.byteTable(view),
    }),
    panel("outcome", {
      title: "Answers and cost",
      sentence: "How many requests were answered, at which rate, and what they cost the machine.",
      table: tables.outcomeTable(view),
    }),
  ];
}

function queuePanels(view: ConditionView, number: number): readonly Panel[] {
  const workers = workerTable(view);
  const coordinator = coordinatorTable(view);
  const killed = "Every entry is answered once, although the coordinator was killed.";
  return [
    ...(coordinator === undefined
      ? []
      : [{ id: `coordinator-${number}`, title: "The coordinator", sentence: killed, table: coordinator }]),
    {
      id: `queue-${number}`,
      title: "The queue",
      sentence: "How long the whole queue took, how long its entries took, and how evenly the workers shared them.",
      table: queueTable(view),
    },
    ...(workers === undefined
      ? []
      : [{ id: `workers-${number}`, title: "The workers", sentence: "What each worker answered.", table: workers }]),
  ];
}

function paperSection(panels: readonly Panel[]): readonly ReportSection[] {
  return panels.length === 0 ? [] : [{ id: "paper", title: "The paper's tables", panels, folded: false }];
}

function scaleSection(views: readonly ConditionView[], agents: number): readonly ReportSection[] {
  const table = scaleTable(views, agents);
  if (table === undefined) return [];
  const sentence = "What encoding and decoding of one message costs when the same traffic is shared by more workers.";
  return [{ id: "scale", title: "Scale", panels: [{ id: "scale-up", title: "More workers", sentence, table }], folded: false }];
}

function modelSection(views: readonly ConditionView[]): readonly ReportSection[] {
  const table = modelTable(views);
  if (table === undefined) return [];
  const sentence = "Whether the order of the protocols stays the same when the model is faster or slower.";
  return [
    { id: "models", title: "Models", panels: [{ id: "cross-model", title: "Other models", sentence, table }], folded: false },
  ];
}

function recoverySection(views: readonly ConditionView[]): readonly ReportSection[] {
  const table = recoveryCostTable(views);
  if (table === undefined) return [];
  const sentence = "Killed agents that get their state back, against killed agents that do not.";
  return [
    { id: "recovery", title: "Recovery", panels: [{ id: "recovery-cost", title: "Its cost", sentence, table }], folded: false },
  ];
}

const FOREST: readonly Legend[] = [
  { name: "different", colour: "var(--accent)" },
  { name: "equal within the margin", colour: "var(--good)" },
  { name: "undecided", colour: "var(--ink-quiet)" },
  { name: "margin", colour: "var(--band-strong)" },
];

function armLegend({ arms }: ConditionView): readonly Legend[] {
  return arms.map(({ arm, style }) => ({ name: arm.id, colour: style.colour, dash: style.dash }));
}

function loadSection(views: readonly ConditionView[]): readonly ReportSection[] {
  const curves = loadCurves(views);
  if (!curves.some(({ points }) => points.length > 1)) return [];
  const knees = curves.flatMap(({ arm, knee }) => (knee?.offered == null ? [] : [`${arm} ${knee.offered}`]));
  const panel: Panel = {
    id: "load-curve",
    title: "Latency under load",
    sentence:
      knees.length === 0
        ? "P95 latency over throughput. Further right carries more, further down is faster."
        : `P95 latency over throughput; a ring marks the knee. Requests per second at the knee: ${knees.join(", ")}.`,
    chart: { svg: () => loadChart(views, curves), legend: views[0] === undefined ? [] : armLegend(views[0]) },
    table: tables.loadTable(curves),
  };
  return [{ id: "load", title: "Load", panels: [panel], folded: false }];
}

/** The arms by the metric that decides, the least first. */
function ranked({
  arms,
  primary,
}: ConditionView): readonly { readonly name: string; readonly mean: number; readonly text: string }[] {
  return arms
    .flatMap(({ arm, summary }) => {
      const { mean, low, high } = summary.metrics[primary];
      const interval = low === null ? "" : ` (${range(primary, low, high)})`;
      return mean === null ? [] : [{ name: arm.id, mean, text: `${arm.id} ${quantity(primary, mean)}${interval}` }];
    })
    .sort((a, b) => a.mean - b.mean);
}

export function estimateSentence(view: ConditionView): string {
  const [first, ...rest] = ranked(view);
  if (first === undefined) return "No run is valid, so there is no number.";
  const others = rest.map(({ text }) => text).join(", ");
  return `${capital(METRIC_WORDS[view.primary].title)}, the least first: ${first.text}${others === "" ? "" : `, ${others}`}.`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function pairSentence(pairs: readonly Comparison[]): string {
  const conclusions = pairs.map(conclusionOf);
  const count = (wanted: (conclusion: string) => boolean) => conclusions.filter(wanted).length;
  const different = count((each) => each.startsWith("different"));
  const within = count((each) => each === "different, within the margin");
  const equal = count((each) => each === "equal");
  const undecided = count((each) => each === "undecided");
  return (
    `Of ${pairs.length} pairs ${different} differ${within === 0 ? "" : ` (${within} of them by less than the margin)`}, ${equal} are equal within the margin, ${undecided} are undecided ` +
    "(after correction for all pairs). Left of zero the first is less."
  );
}

function timeSentence({ arms }: ConditionView): string {
  const shares = arms.flatMap(({ arm, summary }) => {
    const parts = Object.values(summary.segmentsUs).filter((part) => part !== null);
    const total = parts.reduce((sum, part) => sum + part, 0);
    const service = summary.segmentsUs.service;
    return service === null || total === 0 ? [] : [`${arm.id} ${Math.round((100 * (total - service)) / total)} %`];
  });
  return `The parts of a mean request, in the order in which it passes them. Share outside the handler: ${shares.join(", ") || "not known"}.`;
}

function byteSentence({ arms }: ConditionView): string {
  const factors = arms.flatMap(({ arm, summary: { bytes, metrics } }) => {
    const wire = metrics.wireBytesPerRequest.mean;
    return bytes.payload === null || bytes.payload === 0 || wire === null
      ? []
      : [`${arm.id} ${(wire / bytes.payload).toFixed(1)}`];
  });
  return `What a request and its answer cost in bytes. Bytes on the wire per byte of payload: ${factors.join(", ") || "not known"}.`;
}

/** The parts at the end: every run, and where the numbers come from. */
export function appendixOf(result: BenchResult, manifest: Manifest | undefined): readonly Panel[] {
  return [
    {
      id: "runs",
      title: "All runs",
      sentence: "Every run with its block: each block measures every arm once, in an order drawn from the seed.",
      table: tables.runTable(result),
    },
    ...(manifest === undefined
      ? []
      : [
          {
            id: "manifest",
            title: "Manifest",
            sentence: "Everything needed to judge the numbers and to repeat them.",
            table: tables.manifestTable(manifest),
          },
        ]),
  ];
}
