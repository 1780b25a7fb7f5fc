import type { QuestionKind } from "../data/questions.js";
import type { Team, ToolCall } from "./manifest.js";

/** One step of a question: a turn of one agent. */
export interface RecipeStep {
  readonly name: string;
  readonly role: string;
  /** Facts of earlier steps that it needs; those of the question are known to all. */
  readonly needs: readonly string[];
  readonly calls: readonly ToolCall[];
}

export interface Recipe {
  readonly taskType: Team["task_type"];
  readonly domains: readonly string[];
  /** In an order in which each follows those that it needs. The last one answers. */
  readonly steps: readonly RecipeStep[];
}

const NOTICE = "Notice \\d+: ((?:add|raise by) \\d+)";

const homePort = (ship: string, gives: string): ToolCall => ({
  tool: "search_documents",
  arguments: { query: `home port of the {${ship}}` },
  extract: `home port of the {${ship}} is ([A-Z][a-z]+)`,
  gives,
});

const cell = (table: string, { by, of, column }: { by: string; of: string; column: string }, gives: string): ToolCall => ({
  tool: "read_table",
  arguments: { table, key: by, value: `{${of}}`, column },
  gives,
});

const answerWith = (fact: string): ToolCall => ({
  tool: "create_chat_completion",
  arguments: { answer: `{${fact}}` },
  gives: "answer",
});

/** How each kind of question is answered. Every one needs facts of at least two agents. */
export const RECIPES: Readonly<Record<QuestionKind, Recipe>> = {
  fee: {
    taskType: "general_qa",
    domains: ["shipping"],
    steps: [
      { name: "RegisterReader", role: "document searcher", needs: [], calls: [homePort("ship", "port")] },
      {
        name: "FeeReader",
        role: "table reader and final answerer",
        needs: ["port"],
        calls: [cell("ports", { by: "port", of: "port", column: "fee" }, "fee"), answerWith("fee")],
      },
    ],
  },
  master: {
    taskType: "qa_with_reasoning",
    domains: ["shipping", "people"],
    steps: [
      { name: "RegisterReader", role: "document searcher", needs: [], calls: [homePort("ship", "port")] },
      {
        name: "OfficeReader",
        role: "table reader and final answerer",
        needs: ["port"],
        calls: [cell("ports", { by: "port", of: "port", column: "master" }, "master"), answerWith("master")],
      },
    ],
  },
  bill: {
    taskType: "computational_task",
    domains: ["shipping", "accounting"],
    steps: [
      { name: "RegisterReader", role: "document searcher", needs: [], calls: [homePort("ship", "port")] },
      {
        name: "FeeReader",
        role: "table reader",
        needs: ["port"],
        calls: [cell("ports", { by: "port", of: "port", column: "fee" }, "fee")],
      },
      {
        name: "NoticeReader",
        role: "notice reader",
        needs: ["port"],
        calls: [
          {
            tool: "search_documents",
            arguments: { query: "notices of the port of {port}, changes of its berth fee" },
            extract: NOTICE,
            gives: "notice",
            as: "each",
          },
        ],
      },
      {
        name: "Accountant",
        role: "calculator and final answerer",
        needs: ["fee", "notice"],
        calls: [
          { tool: "compute", arguments: { start: "{fee}", apply: "{notice}", finish: "* {nights}" }, gives: "bill" },
          answerWith("bill"),
        ],
      },
    ],
  },
  difference: {
    taskType: "research_task",
    domains: ["shipping"],
    steps: [
      { name: "FirstRegisterReader", role: "document searcher", needs: [], calls: [homePort("ship", "port")] },
      { name: "SecondRegisterReader", role: "document searcher", needs: [], calls: [homePort("other", "elsewhere")] },
      {
        name: "FeeReader",
        role: "table reader",
        needs: ["port", "elsewhere"],
        calls: [
          cell("ports", { by: "port", of: "port", column: "fee" }, "fee"),
          cell("ports", { by: "port", of: "elsewhere", column: "fee" }, "less"),
        ],
      },
      {
        name: "Accountant",
        role: "calculator and final answerer",
        needs: ["fee", "less"],
        calls: [
          { tool: "compute", arguments: { start: "{fee}", finish: "- {less}" }, gives: "difference" },
          answerWith("difference"),
        ],
      },
    ],
  },
  spread: fleetRecipe("multi_step_analysis", "Math.max(...bills) - Math.min(...bills)"),
  total: fleetRecipe("computational_task", "bills.reduce((sum, bill) => sum + bill, 0)"),
};

/** Eight agents about the ships of a fleet; they differ in what is made of the bills. */
function fleetRecipe(taskType: Team["task_type"], result: string): Recipe {
  return {
    taskType,
    domains: ["shipping", "accounting", "contracts"],
    steps: [
      {
        name: "FleetReader",
        role: "document searcher",
        needs: [],
        calls: [
          {
            tool: "search_documents",
            arguments: { query: "ships that the {fleet} fleet owns" },
            extract: "The {fleet} fleet owns these ships: ([^.]+)\\.",
            gives: "ships",
            as: "list",
          },
        ],
      },
      {
        name: "RegisterReader",
        role: "document searcher",
        needs: ["ships"],
        calls: [homePort("ships", "ports")],
      },
      {
        name: "FeeReader",
        role: "table reader",
        needs: ["ports"],
        calls: [cell("ports", { by: "port", of: "ports", column: "fee" }, "fees")],
      },
      {
        name: "StayReader",
        role: "table reader",
        needs: ["ships"],
        calls: [cell("stays", { by: "ship", of: "ships", column: "nights" }, "nights")],
      },
      {
        name: "NoticeReader",
        role: "notice reader",
        needs: [],
        calls: [
          {
            tool: "search_documents",
            arguments: { query: "notices of the board of all ports, every harbour" },
            extract: NOTICE,
            gives: "notice",
            as: "each",
          },
        ],
      },
      {
        name: "ContractReader",
        role: "contract reader",
        needs: [],
        calls: [
          {
            tool: "search_documents",
            arguments: { query: "contract, discount granted to the {fleet} fleet" },
            extract: "grant the {fleet} fleet a discount of (\\d+) percent",
            gives: "discount",
          },
        ],
      },
      {
        name: "Programmer",
        role: "code runner",
        needs: ["fees", "nights", "notice", "discount"],
        calls: [
          {
            tool: "run_code",
            arguments: { code: billsCode(result), input: "{fees}|{nights}|{notice}|{discount}" },
            gives: "result",
          },
        ],
      },
      { name: "Editor", role: "final answerer", needs: ["result"], calls: [answerWith("result")] },
    ],
  };
}

/** A program that gets the facts on its standard input and prints the answer. */
function billsCode(result: string): string {
  return `const [fees, nights, notices, discount] = require("node:fs").readFileSync(0, "utf8").split("|");
const list = (text) => text.split(",").map((each) => each.trim());
const after = (fee) => list(notices).reduce((value, notice) => {
  const amount = Number(notice.match(/\\d+/)[0]);
  return notice.startsWith("add") ? value + amount : (value * (100 + amount)) / 100;
}, Number(fee));
const stays = list(nights);
const bills = list(fees).map((fee, index) => (after(fee) * Number(stays[index]) * (100 - Number(discount))) / 100);
console.log(String(Number((${result}).toFixed(2))));
`;
}
