import { short, type Table } from "../../../harness/table.js";
import type { Agreement } from "../../statistics/agreement.js";
import type { Judgements } from "./judgements.js";

/** What a model judged, beside the rule. */
export function judgementTables({ summary, model, times }: Judgements): readonly Table[] {
  const { arms, agreement, unreadable } = summary;
  return [
    {
      title: `judged by ${model}, ${times} times each`,
      head: ["condition", "arm", "right", "95 %", "quality", "by rule: right", "quality"],
      rows: arms.map(({ condition, arm, answers, correct, low, high, quality, ruleCorrect, ruleQuality }) => [
        condition,
        arm,
        `${correct} of ${answers}`,
        low === null || high === null ? "–" : `${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`,
        short(quality ?? undefined),
        `${ruleCorrect} of ${answers}`,
        short(ruleQuality ?? undefined),
      ]),
    },
    agreementTable("agreement about what is right", agreement, unreadable),
  ];
}

/** How far a model agrees with itself and with the rule. */
export function agreementTable(title: string, { repeats, repeatsKappa, rule, ruleKappa }: Agreement, unreadable: number): Table {
  return {
    title,
    head: ["", "share", "kappa"],
    rows: [
      ["votes with each other (Fleiss)", share(repeats), short(repeatsKappa ?? undefined)],
      ["majority with the rule (Cohen)", share(rule), short(ruleKappa ?? undefined)],
    ],
    note:
      unreadable === 0 ? undefined : `${unreadable} replies could not be read; what they are about is left out of the agreement.`,
  };
}

function share(value: number | null): string {
  return value === null ? "–" : `${(100 * value).toFixed(1)} %`;
}
