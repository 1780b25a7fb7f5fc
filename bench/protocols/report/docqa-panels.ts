import type { Table } from "../../harness/table.js";
import { agentTable, levelTable, pairTable, stragglerTable, successTable, timeTable } from "../docqa/result/docqa-tables.js";
import type { BenchResult } from "../result/index.js";

/** A question about the answers, and the table that answers it. */
interface AnswerPanel {
  readonly id: string;
  readonly title: string;
  readonly sentence: string;
  readonly table: Table;
}

/** What teams achieved under one condition. Empty for a scenario without questions. */
export function docqaPanels({ docqa, plan }: BenchResult, condition: string, number: number): readonly AnswerPanel[] {
  if (docqa === undefined) return [];
  const stragglers = stragglerTable(docqa, condition);
  return [
    {
      id: `answers-${number}`,
      title: "Right answers",
      sentence:
        "How often the teams were right, and how well they worked. All arms have the same teams, documents and questions.",
      table: successTable(docqa, plan, condition),
    },
    {
      id: `levels-${number}`,
      title: "Levels",
      sentence: "The same for teams of 2, 4 and 8 agents.",
      table: levelTable(docqa, plan, condition),
    },
    {
      id: `answer-pairs-${number}`,
      title: "Who was right where others were not",
      sentence: "Every pair of arms over the same questions in the same blocks.",
      table: pairTable(docqa, condition),
    },
    {
      id: `question-times-${number}`,
      title: "Work and communication",
      sentence: "How long a question takes, and how much of it is spent between the agents.",
      table: timeTable(docqa, plan, condition),
    },
    {
      id: `team-${number}`,
      title: "The agents",
      sentence: "Steps, time, CPU and bytes of each agent.",
      table: agentTable(docqa, plan, condition),
    },
    ...(stragglers === undefined
      ? []
      : [
          {
            id: `stragglers-${number}`,
            title: "Stragglers",
            sentence: "Steps that took much longer than others.",
            table: stragglers,
          },
        ]),
  ];
}
