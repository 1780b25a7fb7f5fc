import { setTimeout as pause } from "node:timers/promises";
import { chance } from "../../harness/chance.js";
import { seqOf } from "../payload.js";
import type { BenchModel, ModelSettings } from "./settings.js";

/** Makes the seeds of neighbouring requests differ in all their bits. */
const SEQ_FACTOR = 0x85ebca6b;
/** Longer draws are cut, so that no request of the tail decides a run. */
const MOST_MEANS = 5;

/** The service time of a request, the same in every arm: exponential around the mean, or lognormal with this deviation by mean. */
export function serviceMs(seed: number, seq: number, meanMs: number, spread?: number): number {
  const draw = chance((seed ^ Math.imul(seq + 1, SEQ_FACTOR)) >>> 0);
  const means = spread === undefined ? -Math.log(1 - draw()) : logNormal(draw, spread);
  return Math.min(means, MOST_MEANS) * meanMs;
}

/** With a mean of 1. */
function logNormal(draw: () => number, spread: number): number {
  const variance = Math.log(1 + spread ** 2);
  const normal = Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  return Math.exp(Math.sqrt(variance) * normal - variance / 2);
}

/** Takes as long as its script says, then echoes. */
export function scriptedModel({ seed, meanMs, spread }: Extract<ModelSettings, { kind: "scripted" }>): BenchModel {
  return {
    async answer(payload, signal) {
      await pause(serviceMs(seed, seqOf(payload) ?? 0, meanMs, spread), undefined, { signal });
      return payload;
    },
  };
}
