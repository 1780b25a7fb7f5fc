import type { ToolInterface, ToolName } from "../plan/manifest.js";

const search = (name: ToolName): ToolInterface => ({
  name,
  description: "Searches the documents and gives the text of the one that fits best.",
  arguments: { query: "what to look for, in words" },
  output: "the title and the text of the best document; an error if none has any of the words",
});

const table = (name: ToolName): ToolInterface => ({
  name,
  description: "Reads one cell of a table.",
  arguments: {
    table: "the name of the table",
    key: "the column to look in",
    value: "the value of that column in the wanted row",
    column: "the column to read",
  },
  output: "the text of the cell; an error if there is no such table, column or row",
});

const code = (name: ToolName, language: string): ToolInterface => ({
  name,
  description: `Runs a program in ${language}, in a process of its own without network, with an empty folder to work in.`,
  arguments: { code: "the program", input: "what it gets on its standard input" },
  output: "what it printed; an error with the reason if it failed or was stopped at a limit",
});

/** What each tool takes and gives, for manifests and prompts. */
export const INTERFACES: Readonly<Record<ToolName, ToolInterface>> = {
  search_documents: search("search_documents"),
  browser_use: search("browser_use"),
  read_table: table("read_table"),
  str_replace_editor: table("str_replace_editor"),
  run_code: code("run_code", "JavaScript"),
  python_execute: code("python_execute", "Python"),
  compute: {
    name: "compute",
    description: "Calculates exactly: a start value, operations that are applied in the given order, and an end.",
    arguments: {
      start: "a number",
      apply: "operations divided by commas: `add N`, `raise by N` (percent)",
      finish: "`+ N`, `- N`, `* N` or `/ N`",
    },
    output: "the number, in at most two decimals",
  },
  create_chat_completion: {
    name: "create_chat_completion",
    description: "Writes the final answer. Only the last agent has it, and calls it last.",
    arguments: { answer: "what the team has found" },
    output: "the answer, and nothing else",
  },
};

const PAPER_NAMES: Readonly<Partial<Record<ToolName, ToolName>>> = {
  browser_use: "search_documents",
  str_replace_editor: "read_table",
  python_execute: "run_code",
};

/** Our name of a tool that has another one in the paper. */
export function ownName(tool: ToolName): ToolName {
  return PAPER_NAMES[tool] ?? tool;
}
