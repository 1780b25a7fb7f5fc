import { type Conclusion, conclude, type RatioDefinition, valuesOf, withFigure } from "../../harness/conclude.js";
import type { Titles } from "../../harness/report.js";
import type { Row } from "../../harness/result.js";
import { CROWDS, type Registered, SIZES, type Size } from "./workload.js";

/** The numbers of this bench by their published names, for whatever protocols there are. */

const MOST_VS_JSON = 1.5;
const MOST_US = 30;
/** As long with 1,024 agents as with 4. */
const MOST_GROWTH = 1.15;
/** The crowds that are published with a target. */
const JUDGED: readonly number[] = [4, 32, 1_024];

export const sizeSection = (protocol: string, size: Size): string => `${protocol} ${size}`;
export const crowdSection = (protocol: string): string => `${protocol} agents`;
export const crowdArm = (agents: number): string => `${agents} agents`;
/** The same with both halves around the codec. */
export const halvesArm = (agents: number): string => `${agents} agents, halves`;

/** An absolute time, not a ratio. */
interface TimeDefinition {
  readonly key: string;
  readonly section: string;
  readonly of: string;
  readonly atMost?: number;
}

/**
 * A message between identities contains what its author signs, in canonical JSON and base64: what it costs is published, and
 * has no target beside the others. It must not take longer for more agents.
 */
type Published = Pick<Registered, "id" | "hasHalves">;

export function ratiosFor({ id: protocol, hasHalves }: Published): readonly RatioDefinition[] {
  const inSize = (size: Size) => ({ section: sizeSection(protocol, size), metric: "codecUs" }) as const;
  const small = inSize("small");
  return [
    { key: `${protocol}_floor_vs_floor`, of: "json again", over: "json", ...small },
    {
      key: `${protocol}_encode_decode_vs_json`,
      of: "codec",
      over: "json",
      ...small,
      ...(hasHalves && { target: { atMost: MOST_VS_JSON } }),
    },
    { key: `${protocol}_encode_decode_vs_json_at_1kb`, of: "codec", over: "json", ...inSize("medium") },
    { key: `${protocol}_encode_decode_vs_json_at_100kb`, of: "codec", over: "json", ...inSize("large") },
    { key: `${protocol}_halves_vs_json`, of: "one way", over: "json bytes", ...small },
    { key: `${protocol}_round_trip_vs_json`, of: "round trip", over: "json both", ...small },
    ...CROWDS.slice(1).map((agents) => ({
      key: `${protocol}_us_at_${agents}_vs_4`,
      section: crowdSection(protocol),
      of: crowdArm(agents),
      over: crowdArm(CROWDS[0]),
      metric: "codecUs" as const,
      ...(JUDGED.includes(agents) && { target: { atMost: MOST_GROWTH } }),
    })),
  ];
}

function timesFor({ id: protocol, hasHalves }: Published): readonly TimeDefinition[] {
  const section = crowdSection(protocol);
  return CROWDS.flatMap((agents) => [
    {
      key: `${protocol}_us_at_${agents}`,
      section,
      of: crowdArm(agents),
      ...(hasHalves && JUDGED.includes(agents) && { atMost: MOST_US }),
    },
    { key: `${protocol}_halves_us_at_${agents}`, section, of: halvesArm(agents) },
  ]);
}

/** Ratios and times of all protocols. The floor that differs most from itself speaks for all. */
export function concludeCodecs(all: readonly Published[], rows: readonly Row[]): Conclusion {
  const conclusion = conclude(all.flatMap(ratiosFor), rows);
  const timed = all.flatMap(timesFor).reduce((sofar, time) => withTime(sofar, time, rows), conclusion);
  const floors = all.flatMap(({ id }) => timed.ratios[`${id}_floor_vs_floor`] ?? []);
  const [worst = Number.NaN] = floors.toSorted((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)));
  return { ...timed, ratios: { floor_vs_floor: worst, ...timed.ratios } };
}

function withTime(sofar: Conclusion, { key, section, of, atMost }: TimeDefinition, rows: readonly Row[]): Conclusion {
  const row = rows.find((each) => each.section === section && each.arm === of);
  if (row === undefined || row.series.length === 0) return sofar;
  return withFigure(sofar, { key, values: valuesOf(row.series, "codecUs"), atMost });
}

/** The keys that every run must decide, for protocols that have a codec of their own. */
export function judgedKeys(all: readonly Published[]): readonly string[] {
  return all.flatMap((each) => [
    ...ratiosFor(each).flatMap(({ key, target }) => (target === undefined ? [] : [key])),
    ...timesFor(each).flatMap(({ key, atMost }) => (atMost === undefined ? [] : [key])),
  ]);
}

export function titlesFor(ids: readonly string[]): Titles {
  return Object.fromEntries(
    ids.flatMap((id) => [
      ...Object.entries(SIZES).map(([size, bytes]) => [
        `${id} ${size}`,
        `${id}: one message of ${bytes.toLocaleString("en-US")} bytes, or as few as its wire needs, CPU time per message`,
      ]),
      [crowdSection(id), `${id}: a message to each of so many agents in turn, by the codec alone and there and back, CPU time`],
    ]),
  );
}
