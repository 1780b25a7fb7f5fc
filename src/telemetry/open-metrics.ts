import type { Maybe } from "../envelope/index.js";
import type { Exemplar } from "./exemplars.js";
import { escapeQuoted, labelText, numberText } from "./metric-text.js";
import type { Family, Sample } from "./metrics.js";

/** OpenMetrics 1.0, "Overall Structure". */
export const OPEN_METRICS_CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const MEDIA_TYPE = "application/openmetrics-text";
const PLAIN = ["text/plain", "text/*", "*/*"];
const TOTAL = "_total";
/** Beyond these a bound is written with an exponent ("Canonical Numbers"). */
const SMALLEST_PLAIN = 1e-4;
const LARGEST_PLAIN = 1e6;

/** Whether the scraper prefers OpenMetrics at least as much as plain text. The default is plain text. */
export function wantsOpenMetrics(accept: Maybe<string>): boolean {
  if (accept === undefined) return false;
  let wanted = 0;
  let plain = 0;
  for (const range of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((piece) => piece.trim());
    if (type === MEDIA_TYPE && isOurVersion(parameters)) wanted = Math.max(wanted, qualityOf(parameters));
    else if (PLAIN.includes(type)) plain = Math.max(plain, qualityOf(parameters));
  }
  return wanted > 0 && wanted >= plain;
}

/** "MUST default to the oldest version (1.0.0) if no newer version is requested"; only 1.0.0 is produced. */
function isOurVersion(parameters: readonly string[]): boolean {
  const version = parameters.find((parameter) => parameter.startsWith("version="));
  return version === undefined || version === "version=1.0.0";
}

function qualityOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => parameter.startsWith("q="));
  const quality = q === undefined ? 1 : Number(q.slice(2));
  return quality >= 0 && quality <= 1 ? quality : 0;
}

/** All metrics in OpenMetrics text with one exemplar per bucket. Metrics without samples are omitted. */
export function openMetricsText(families: readonly Family[]): string {
  let text = "";
  for (const family of families) {
    if (family.samples.length === 0) continue;
    const name = familyName(family);
    const unit = family.unit === undefined ? "" : `# UNIT ${name} ${family.unit}\n`;
    text += `# TYPE ${name} ${family.type}\n${unit}# HELP ${name} ${escapeQuoted(family.help)}\n`;
    for (const sample of family.samples) text += sampleText(name, family, sample);
  }
  return `${text}# EOF\n`;
}

/** A counter's family is named `x`, its sample `x_total`. */
function familyName({ name, type }: Family): string {
  return type === "counter" && name.endsWith(TOTAL) ? name.slice(0, -TOTAL.length) : name;
}

function sampleText(name: string, { type, bounds }: Family, sample: Sample): string {
  const labels = labelText(sample.edge);
  if ("value" in sample) return `${name}${type === "counter" ? TOTAL : ""}{${labels}} ${numberText(sample.value)}\n`;
  let text = "";
  sample.cumulative.forEach((count, index) => {
    const bound = bounds[index] ?? Number.POSITIVE_INFINITY;
    text += `${name}_bucket{${labels},le="${boundText(bound)}"} ${count}${exemplarText(sample.exemplars?.[index])}\n`;
  });
  return `${text}${name}_count{${labels}} ${sample.cumulative.at(-1) ?? 0}\n${name}_sum{${labels}} ${numberText(sample.sum)}\n`;
}

function exemplarText(exemplar: Maybe<Exemplar>): string {
  if (exemplar === undefined) return "";
  return ` # {trace_id="${exemplar.traceId}"} ${numberText(exemplar.value)} ${exemplar.atMs / 1000}`;
}

/** Bounds are always written as floats: `1.0`, `1e-05`, `+Inf` ("Canonical Numbers"). */
function boundText(bound: number): string {
  const size = Math.abs(bound);
  if (!Number.isFinite(bound)) return numberText(bound);
  if (size !== 0 && (size < SMALLEST_PLAIN || size >= LARGEST_PLAIN))
    return bound.toExponential().replace(/(?<=e[+-])(?=\d$)/, "0");
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}
