import type { Table } from "../../harness/table.js";
import type { BenchResult } from "../result/index.js";
import { caseTable, patternTable, routerTable } from "../router-loop/router-tables.js";

/** The router's plan against the best single protocol. Empty if no arm executes one. */
export function routerPanels(result: BenchResult, condition: string, number: number) {
  const panels: readonly (readonly [id: string, title: string, sentence: string, table: Table | undefined])[] = [
    [
      "router",
      "The router in the loop",
      "The plan that the router made from the text of the scenario, executed beside every single protocol in the same blocks.",
      routerTable(result, condition),
    ],
    ["router-patterns", "Assignment patterns", "How often which protocols work together on a question.", patternTable(result)],
    ["router-case", "One case", "What the router chose for each module, and why.", caseTable(result)],
  ];
  return panels.flatMap(([id, title, sentence, table]) =>
    table === undefined ? [] : [{ id: `${id}-${number}`, title, sentence, table }],
  );
}
