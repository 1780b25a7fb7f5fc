import { setTimeout as pause } from "node:timers/promises";
import { chance } from "../../harness/chance.js";
import { seqOf } from "../payload.js";
import type { BenchModel, ModelSettings } from "./settings.js";

const SPREAD = 0x85ebca6b;
/** Longer draws are cut, so that no request of the tail decides a run. */
const MOST_MEANS = 5;

/** The service time of a request: exponential around the mean, and the same in every arm. */
export function serviceMs(seed: number, seq: number, meanMs: number): number {
  const draw = chance((seed ^ Math.imul(seq + 1, SPREAD)) >>> 0)();
  return Math.min(-Math.log(1 - draw), MOST_MEANS) * meanMs;
}

/** Takes as long as its script says, then echoes. */
export function scriptedModel({ seed, meanMs }: Extract<ModelSettings, { kind: "scripted" }>): BenchModel {
  return {
    async answer(payload, signal) {
      await pause(serviceMs(seed, seqOf(payload) ?? 0, meanMs), undefined, { signal });
      return payload;
    },
  };
}
