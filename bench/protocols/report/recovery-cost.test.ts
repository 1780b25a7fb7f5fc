import { expect, it } from "vitest";
import { recoveryCostTable } from "./recovery-cost.js";
import type { ConditionView } from "./view.js";

const FAULT = { kind: "kill", target: "agent-2", atMs: 1_000, forMs: 2_000 };

/** The parts that the table reads: one storm with one victim. */
function view(recovery: string, restored: { us: number; bytes: number; fragments: number }, right: number): ConditionView {
  const victim = { restored, startUs: 400_000, usefulUs: 200_000, reconnect: { connections: 1, sent: 300, received: 700 } };
  const post = { ended: 40, right };
  const storm = { lost: 1, cycles: [{ victims: [victim], paper: { post }, retention: right / 40 }] };
  const arms = [{ arm: { id: "one" }, runs: [{ storm }, { storm: undefined }] }];
  return { condition: { recovery, faults: [FAULT] }, arms } as unknown as ConditionView;
}

const JOURNAL = view("journal", { us: 3_000, bytes: 900, fragments: 16 }, 40);
const OFF = view("off", { us: 0, bytes: 0, fragments: 0 }, 35);

it("puts every source of state beside an arm that gets none back", () => {
  const table = recoveryCostTable([JOURNAL, OFF]);
  const rows = table?.rows.map((row) => Object.fromEntries(row.map((cell, column) => [table.head[column], cell])));
  expect(rows).toMatchObject([
    { arm: "one", "state from": "journal", "state back (ms)": "3.00", "state bytes": "900", "right after (%)": "100", lost: "1" },
    {
      arm: "one",
      "state from": "off",
      "state bytes": "0.000",
      "texts back": "0.000",
      "right after (%)": "87.5",
      "retention (%)": "87.5",
    },
  ]);
  expect(rows?.[0]).toMatchObject({ "start (ms)": "400", "listening to first work (ms)": "200", "reconnect bytes": "1,000" });
});

it("is nothing with one source, or where nothing was killed", () => {
  expect(recoveryCostTable([JOURNAL])).toBeUndefined();
  const cut = { ...OFF, condition: { ...OFF.condition, faults: [{ ...FAULT, kind: "partition" as const }] } };
  expect(recoveryCostTable([JOURNAL, cut])).toBeUndefined();
});
