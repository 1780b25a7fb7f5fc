import type { Maybe } from "../../../src/index.js";

/** The parent of a new span, if it has one. */
export interface SampledParent {
  readonly sampled: boolean;
}

/** Whether a span of this trace is recorded. */
export type Sampler = (traceId: string, parent: Maybe<SampledParent>) => boolean;

const on: Sampler = () => true;
const off: Sampler = () => false;
const parentBased =
  (root: Sampler): Sampler =>
  (traceId, parent) =>
    parent?.sampled ?? root(traceId, undefined);

const HALF_BYTES = 2 ** 32;

/** The same decision for the same trace in every process: by the first and the last four bytes, as the SDKs do. */
function ratio(share: number): Sampler {
  const bound = Math.floor(share * (HALF_BYTES - 1));
  return (traceId) => {
    let folded = 0;
    for (let at = 0; at < 32; at += 8) folded = (folded ^ Number.parseInt(traceId.slice(at, at + 8), 16)) >>> 0;
    return share === 1 || folded < bound;
  };
}

const SAMPLERS: { readonly [name: string]: (share: number) => Sampler } = {
  always_on: () => on,
  always_off: () => off,
  traceidratio: ratio,
  parentbased_always_on: () => parentBased(on),
  parentbased_always_off: () => parentBased(off),
  parentbased_traceidratio: (share) => parentBased(ratio(share)),
};

/** The sampler of `OTEL_TRACES_SAMPLER` and its argument. Default, also for an unknown one: `parentbased_always_on`. */
export function readSampler(name: Maybe<string>, argument: Maybe<string>, warnings: string[]): Sampler {
  const make = name === undefined ? undefined : Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name] : undefined;
  if (make === undefined) {
    if (name !== undefined)
      warnings.push(`OTEL_TRACES_SAMPLER is not used: it must be one of ${Object.keys(SAMPLERS).join(", ")}`);
    return parentBased(on);
  }
  return make(name?.endsWith("traceidratio") ? shareOf(argument, warnings) : 1);
}

function shareOf(argument: Maybe<string>, warnings: string[]): number {
  const share = argument === undefined ? 1 : Number(argument);
  if (share >= 0 && share <= 1) return share;
  warnings.push("OTEL_TRACES_SAMPLER_ARG is not used: it must be a number from 0 to 1");
  return 1;
}
