import type { DocumentSet } from "../data/documents.js";
import type { ToolName } from "../plan/manifest.js";
import { compute } from "./compute.js";
import { runCode } from "./run-code.js";
import { DocumentSearch } from "./search.js";
import { readCell } from "./table.js";
import { ToolError } from "./tool.js";

export type Arguments = Readonly<Record<string, string>>;

/** Writes the final answer. */
export type Complete = (answer: string, signal: AbortSignal) => Promise<string>;

/** The tools of the agents of one process. */
export class Toolbox {
  readonly #tables: DocumentSet["tables"];
  readonly #search: DocumentSearch;

  constructor({ texts, tables }: DocumentSet) {
    this.#tables = tables;
    this.#search = new DocumentSearch(texts);
  }

  /** The result of a tool other than the one that answers. Throws ToolError. */
  async call(tool: Exclude<ToolName, "create_chat_completion">, given: Arguments, signal: AbortSignal): Promise<string> {
    switch (tool) {
      case "search_documents":
      case "browser_use": {
        const { title, text } = this.#search.best(wanted(given, "query"));
        return `${title}\n${text}`;
      }
      case "read_table":
      case "str_replace_editor":
        return readCell(this.#tables, {
          table: wanted(given, "table"),
          key: wanted(given, "key"),
          value: wanted(given, "value"),
          column: wanted(given, "column"),
        });
      case "compute":
        return compute({ start: wanted(given, "start"), apply: given["apply"], finish: given["finish"] });
      case "run_code":
      case "python_execute": {
        const language = tool === "run_code" ? "javascript" : "python";
        return runCode({ language, code: wanted(given, "code"), input: given["input"] ?? "" }, { signal });
      }
    }
  }
}

/** Tools that are called for each item of a list; others get the whole list. */
export function isPerItem(tool: ToolName): boolean {
  return ["search_documents", "browser_use", "read_table", "str_replace_editor"].includes(tool);
}

function wanted(given: Arguments, name: string): string {
  const value = given[name];
  if (value === undefined || value === "") throw new ToolError("invalid", `the argument ${name} is missing`);
  return value;
}
