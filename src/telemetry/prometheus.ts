import { escapeLine, labelText, numberText } from "./metric-text.js";
import type { Family, Sample } from "./metrics.js";

/** Prometheus text exposition format 0.0.4. */
export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** All metrics in Prometheus text. Metrics without samples are omitted. */
export function prometheusText(families: readonly Family[]): string {
  let text = "";
  for (const family of families) {
    if (family.samples.length === 0) continue;
    text += `# HELP ${family.name} ${escapeLine(family.help)}\n# TYPE ${family.name} ${family.type}\n`;
    for (const sample of family.samples) text += sampleText(family, sample);
  }
  return text;
}

function sampleText({ name, bounds }: Family, sample: Sample): string {
  const labels = labelText(sample.edge);
  if ("value" in sample) return `${name}{${labels}} ${numberText(sample.value)}\n`;
  let text = "";
  sample.cumulative.forEach((count, index) => {
    const bound = bounds[index];
    text += `${name}_bucket{${labels},le="${bound === undefined ? "+Inf" : numberText(bound)}"} ${numberText(count)}\n`;
  });
  const count = sample.cumulative.at(-1) ?? 0;
  return `${text}${name}_sum{${labels}} ${numberText(sample.sum)}\n${name}_count{${labels}} ${numberText(count)}\n`;
}
