import type { BenchResult } from "../result/index.js";
import { ROUTER_ARM } from "./choose.js";

/** What the router reads as `--ranking`: success rate and median latency of each protocol. */
export interface Priors {
  readonly protocols: readonly { readonly protocol: string; readonly success: number; readonly p50Us: number | null }[];
}

/** Priors from the first condition of a result: the first arm of each protocol. Where there are questions, success is right answers. */
export function priorsOf({ plan, arms, docqa }: Pick<BenchResult, "plan" | "arms" | "docqa">): Priors {
  const condition = plan.conditions[0]?.id;
  const subjects = plan.arms.filter(
    ({ id, control, protocol }, index) =>
      control === undefined &&
      id !== ROUTER_ARM &&
      plan.arms.findIndex((each) => each.protocol === protocol && each.id !== ROUTER_ARM) === index,
  );
  return {
    protocols: subjects.flatMap(({ id, protocol }) => {
      const of = <T extends { readonly arm: string; readonly condition: string }>(all: readonly T[]): T | undefined =>
        all.find((each) => each.arm === id && each.condition === condition);
      const [summary, answers] = [of(arms), of(docqa?.arms ?? [])];
      const [hits, sent] =
        answers === undefined ? [summary?.success.answered, summary?.success.sent] : [answers.success.hits, answers.success.of];
      if (hits === undefined || sent === undefined || sent === 0) return [];
      return [{ protocol, success: hits / sent, p50Us: summary?.metrics.p50Us.mean ?? null }];
    }),
  };
}
