import type { Maybe } from "../../envelope/index.js";
import type { CapabilityId } from "../../protocols/features.js";
import { bindsInProse } from "../select/tiers.js";
import { foldCase } from "../text/fold-case.js";
import type { Span } from "./extract.js";
import { mechanismsIn } from "./named.js";
import { ReadableWords, type Reading } from "./prototypes.js";
import { READINGS } from "./readings.js";
import type { Range } from "./weigh.js";
import { windowOf } from "./window.js";

/** What one span says about one capability. */
export interface Evidence {
  readonly span: Span;
  readonly capability: CapabilityId;
  /** The probability that the span is about it, from 0 to 1. */
  readonly share: number;
  /** The clearest words, quoted from the text. */
  quote(): string;
}

/** Shares below this are noise. */
const LEAST_SHARE = 0.05;

/** Spans with fewer words are unreliable. */
const ENOUGH_WORDS = 8;

/** A statement this clearly about a constraint counts alone, whatever else its sentence says. */
const CLEAR_SHARE = 0.85;

/** The weight of embeddings in a reading, for spans that are unclear without them. */
const BY_SENTENCE = 0.4;

/** Readings of spans by sentence embeddings: shares like those of a reading. */
export type Readings = ReadonlyMap<Span, Float64Array>;

interface MapSettings {
  readonly phrases: boolean;
  readonly stance: boolean;
  readonly readings?: Maybe<Readings>;
}

/** The capabilities that the spans are about. */
export function mapSpansToCapabilities(spans: readonly Span[], settings: MapSettings): readonly Evidence[] {
  return spans.flatMap((span) => {
    const { reading, own } = readSpan(span, settings);
    const other = settings.readings?.get(span);
    const named = mechanismsIn(span);
    const evidence: Evidence[] = [];
    for (let index = 0; index < READINGS.length; index++) {
      const capability = READINGS[index] ?? "none";
      const alone = own[index] ?? 0;
      const share =
        other === undefined ? alone : alone * (1 - BY_SENTENCE) + (other[index] ?? 0) * relianceOn(span) * BY_SENTENCE;
      if (capability === "none" || share < LEAST_SHARE || isNamedInstead(capability, named)) continue;
      evidence.push(readEvidence(span, { capability, share, reading, index }));
    }
    for (const { capability, name } of named) evidence.push(namedEvidence(span, capability, name));
    return evidence;
  });
}

/** By itself: most readings are below the threshold, and a closure in the loop would cost each of them its variables. */
function readEvidence(
  span: Span,
  read: Pick<Evidence, "capability" | "share"> & { readonly reading: Reading; readonly index: number },
): Evidence {
  const { capability, share, reading, index } = read;
  return { span, capability, share, quote: () => windowOf(span, reading.wordsFor(index)) };
}

function isNamedInstead(capability: CapabilityId, named: ReturnType<typeof mechanismsIn>): boolean {
  return named.some(({ insteadOf }) => insteadOf.has(capability));
}

/** A name is clear, but says less about what is wanted than a sentence that describes it. */
const NAMED_SHARE = 0.8;

function namedEvidence(span: Span, capability: CapabilityId, name: RegExp): Evidence {
  const weights = Float64Array.from(span.words, ({ start, end }) => (name.test(foldCase(span.text.slice(start, end))) ? 1 : 0));
  return { span, capability, share: NAMED_SHARE, quote: () => windowOf(span, weights) };
}

interface SpanReading {
  readonly reading: Reading;
  /** For each of `READINGS`, the share of the span. */
  readonly own: readonly number[];
}

/** Cached: many modules share one description. */
const shared = new WeakMap<Span, Map<string, SpanReading>>();

function readSpan(span: Span, settings: MapSettings): SpanReading {
  if (span.source === "module") return readAnew(span, settings);
  const key = `${settings.phrases} ${settings.stance}`;
  const others = shared.get(span);
  const known = others?.get(key);
  if (known !== undefined) return known;
  const read = readAnew(span, settings);
  if (others === undefined) shared.set(span, new Map([[key, read]]));
  else others.set(key, read);
  return read;
}

function readAnew(span: Span, settings: MapSettings): SpanReading {
  const { words, stance } = span;
  const ranges = rangesOf(span);
  const readable = new ReadableWords(words, new Set(ranges.map(({ from }) => from)));
  // An avoided capability is not wanted, but it still counts as avoided.
  const reading = readable.read({ from: 0, to: words.length }, stance === "avoided" ? { ...settings, stance: false } : settings);
  const reliance = relianceOn(span);
  const statements = ranges.map((range) => readable.read(range, settings));
  const own = READINGS.map((capability, index) => {
    const alone = capability !== "none" && bindsInProse(capability) ? highest(statements, index) : 0;
    return Math.max((reading.shares[index] ?? 0) * reliance, alone >= CLEAR_SHARE ? alone : 0);
  });
  return { reading, own };
}

/** Where the statements are among the words of their span; they are in its order. */
function rangesOf({ words, statements }: Span): readonly Range[] {
  let from = 0;
  return statements.map((statement) => {
    const [first] = statement;
    while (words[from] !== first) from++;
    return { from, to: from + statement.length };
  });
}

/** The reliability of so few words, from 0 to 1. */
function relianceOn({ whole, stance, words }: Span): number {
  return whole || stance === "avoided" ? 1 : Math.min(1, (words.length + 1) / ENOUGH_WORDS);
}

function highest(readings: readonly Reading[], index: number): number {
  return readings.reduce((high, { shares }) => Math.max(high, shares[index] ?? 0), 0);
}
