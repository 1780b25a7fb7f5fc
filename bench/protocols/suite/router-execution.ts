import type { Table } from "../../harness/table.js";
import type { BenchResult } from "../result/index.js";
import { routerTable } from "../router-loop/router-tables.js";
import { safetyRouterTable } from "../safety/report/router-table.js";
import type { SafetyResult } from "../safety/result/result.js";

/** The paper's table 7: the router's plan against the best single protocol in every scenario; undefined if no arm executed one. */
export function executionTable(
  results: readonly (BenchResult | undefined)[],
  safety: SafetyResult | undefined,
): Table | undefined {
  const compared = results.flatMap((result) => {
    const condition = result?.plan.conditions[0]?.id;
    const table = result === undefined || condition === undefined ? undefined : routerTable(result, condition);
    return result === undefined || table === undefined ? [] : [{ scenario: result.plan.scenario, table }];
  });
  const probed = safety && safetyRouterTable(safety);
  if (probed !== undefined) compared.push({ scenario: "safety", table: probed });
  if (compared.length === 0) return undefined;
  return {
    title: "Router execution: the router's plan and the best single protocol",
    head: ["Scenario", "Metric", "Router", "Best single", "paper: router", "paper: best single"],
    rows: compared.flatMap(({ scenario, table }) => table.rows.map((row) => [scenario, ...row])),
    note: compared.map(({ scenario, table }) => `${scenario}: ${table.note ?? ""}`).join(" "),
  };
}
