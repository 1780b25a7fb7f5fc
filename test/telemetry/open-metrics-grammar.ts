/**
 * A strict parser of OpenMetrics text for tests, written from the ABNF and the MUSTs of OpenMetrics 1.0. Throws with the line
 * for everything that the specification does not allow.
 */
export interface ReadExemplar {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly timestamp: number | undefined;
}
export interface ReadSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
  readonly exemplar: ReadExemplar | undefined;
}
export interface ReadFamily {
  readonly name: string;
  type: string;
  help: string;
  unit: string;
  readonly samples: ReadSample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL_NAME = "[a-zA-Z_][a-zA-Z0-9_]*";
const STRING = '(?:[^\\n"\\\\]|\\\\.)*';
const LABELS = `\\{(?:${LABEL_NAME}="${STRING}"(?:,${LABEL_NAME}="${STRING}")*)?\\}`;
const REAL = "[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?";
const NUMBER = `(?:${REAL}|[+-]?[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])`;
const SAMPLE = new RegExp(`^(${NAME})(${LABELS})? (${NUMBER})(?: (${REAL}))?(?: # (${LABELS}) (${NUMBER})(?: (${REAL}))?)?$`);
const DESCRIPTOR = new RegExp(`^# (TYPE|HELP|UNIT) (${NAME}) (.*)$`);
const TYPES = ["counter", "gauge", "histogram", "gaugehistogram", "stateset", "info", "summary", "unknown"];
const SUFFIXES: { readonly [type: string]: readonly string[] } = {
  counter: ["_total", "_created"],
  gauge: [""],
  histogram: ["_bucket", "_count", "_sum", "_created"],
};
/** "The combined length of the label names and values of an Exemplar's LabelSet MUST NOT exceed 128 UTF-8 characters." */
const EXEMPLAR_CHARACTERS = 128;

export function readOpenMetrics(text: string): readonly ReadFamily[] {
  const lines = text.replace(/\n$/, "").split("\n");
  if (text.includes("\r") || lines.pop() !== "# EOF") throw new Error("must end with EOF, and have no carriage return");
  const families = new Map<string, ReadFamily>();
  let current: ReadFamily | undefined;
  for (const line of lines) {
    const descriptor = DESCRIPTOR.exec(line);
    if (descriptor !== null) current = describe(families, current, descriptor);
    else readSample(families, current, line);
  }
  for (const family of families.values()) checkFamily(family);
  return [...families.values()];
}

function describe(families: Map<string, ReadFamily>, current: ReadFamily | undefined, found: RegExpExecArray): ReadFamily {
  const [line, what, name = "", rest = ""] = found;
  const known = families.get(name);
  if (known !== undefined && known !== current) throw new Error(`families are interleaved: ${line}`);
  const family = known ?? { name, type: "", help: "", unit: "", samples: [] };
  families.set(name, family);
  if (family.samples.length > 0) throw new Error(`metadata after samples: ${line}`);
  if (what === "TYPE") {
    if (family.type !== "" || !TYPES.includes(rest)) throw new Error(`not a type, or a second one: ${line}`);
    family.type = rest;
  } else if (what === "HELP") {
    if (family.help !== "" || !new RegExp(`^${STRING}$`).test(rest))
      throw new Error(`help is not escaped, or there twice: ${line}`);
    family.help = unescaped(rest);
  } else {
    // "if non-empty, it MUST be a suffix of the MetricFamily name separated by an underscore"
    if (family.unit !== "" || (rest !== "" && !name.endsWith(`_${rest}`))) throw new Error(`not the unit of its name: ${line}`);
    family.unit = rest;
  }
  return family;
}

function readSample(families: ReadonlyMap<string, ReadFamily>, current: ReadFamily | undefined, line: string): void {
  const found = SAMPLE.exec(line);
  if (found === null || current === undefined) throw new Error(`not a sample: ${line}`);
  const [, name = "", labels = "{}", value = "", , exemplarLabels, exemplarValue = "", timestamp] = found;
  if (!(SUFFIXES[current.type] ?? []).some((suffix) => name === current.name + suffix))
    throw new Error(`${name} is no sample of ${current.type} ${current.name}`);
  if (name !== current.name && families.has(name)) throw new Error(`${name} is a family, too`);
  const exemplar =
    exemplarLabels === undefined
      ? undefined
      : {
          labels: readLabels(exemplarLabels),
          value: numberOf(exemplarValue),
          timestamp: timestamp === undefined ? undefined : Number(timestamp),
        };
  if (exemplar !== undefined) checkExemplar(name, exemplar, line);
  current.samples.push({ name, labels: readLabels(labels), value: numberOf(value), exemplar });
}

function checkExemplar(name: string, { labels }: ReadExemplar, line: string): void {
  if (!name.endsWith("_bucket") && !name.endsWith("_total")) throw new Error(`no exemplar may be here: ${line}`);
  let characters = 0;
  for (const [label, value] of labels) characters += [...label, ...value].length;
  if (characters > EXEMPLAR_CHARACTERS) throw new Error(`the labels of the exemplar are too long: ${line}`);
}

function checkFamily({ name, type, samples }: ReadFamily): void {
  if (type === "counter") for (const { value } of samples) if (!(value >= 0)) throw new Error(`${name} counts ${value}`);
  if (type !== "histogram") return;
  const metrics = new Map<string, ReadSample[]>();
  let last = "";
  for (const sample of samples) {
    const key = JSON.stringify([...sample.labels].filter(([label]) => label !== "le"));
    if (key !== last && metrics.has(key)) throw new Error(`metrics of ${name} are interleaved`);
    metrics.set(key, [...(metrics.get(key) ?? []), sample]);
    last = key;
  }
  for (const metric of metrics.values()) checkHistogram(name, metric);
}

/** Ascending bounds and counts, a last bucket of infinity that equals the count, exemplars below their bound, a sum beside a count. */
function checkHistogram(name: string, samples: readonly ReadSample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const one = (suffix: string) => samples.filter((sample) => sample.name === name + suffix).map(({ value }) => value);
  let bound = Number.NEGATIVE_INFINITY;
  let count = 0;
  for (const { labels, value, exemplar } of buckets) {
    const le = labels.get("le") ?? "";
    if (!/^(\+Inf|[+-]?\d+\.\d+|\d(\.\d+)?e[+-]\d\d+)$/.test(le)) throw new Error(`le="${le}" is no canonical number`);
    if (!(numberOf(le) > bound) || !Number.isInteger(value) || value < count)
      throw new Error(`the bucket ${le} of ${name} does not rise`);
    if (exemplar !== undefined && exemplar.value > numberOf(le)) throw new Error(`the exemplar of ${le} is above its bound`);
    bound = numberOf(le);
    count = value;
  }
  const [counted, ...more] = one("_count");
  if (bound !== Number.POSITIVE_INFINITY || counted !== count || more.length > 0 || one("_sum").length !== 1)
    throw new Error(`${name} has no bucket of infinity, or another count than it, or no sum`);
}

function readLabels(text: string): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const [, label = "", value = ""] of text.matchAll(new RegExp(`(${LABEL_NAME})="(${STRING})"`, "g"))) {
    if (labels.has(label)) throw new Error(`the label ${label} is there twice`);
    labels.set(label, unescaped(value));
  }
  return labels;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}

function numberOf(text: string): number {
  if (/^[+-]?inf/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}
