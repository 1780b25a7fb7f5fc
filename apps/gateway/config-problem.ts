import { AgentError } from "../../src/index.js";
import { formatPath, type MemberPath } from "../config/index.js";

/** One problem of a configuration. */
export interface ConfigProblem {
  /** Absent when the configuration was not read from a file. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** `agents[0].upstream`; empty for the root. */
  readonly member: string;
  readonly message: string;
}

/** All problems of a configuration. */
export class ConfigError extends AgentError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super("invalid_message", problems.map(problemText).join("\n"), { sent: "no" });
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Formats a problem: `koine.yaml:12:7: agents[0].upstream must be an http or https URL`. */
export function problemText({ place, member, message }: ConfigProblem): string {
  const text = `${member === "" ? "the configuration" : member} ${message}`;
  return place === undefined ? text : `${place.file}:${place.line}:${place.column}: ${text}`;
}

type PlaceOf = (path: MemberPath, named: boolean) => ConfigProblem["place"];

/** Collects the problems of one configuration with their positions. */
export class ConfigProblems {
  readonly list: ConfigProblem[] = [];
  readonly #placeOf: PlaceOf;

  constructor(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
  }

  /** `named`: the problem is the member's key, not its value. */
  add(path: MemberPath, message: string, named = false): void {
    this.list.push({ place: this.#placeOf(path, named), member: formatPath(path), message });
  }

  /** Throws all problems in file order. */
  throwIfAny(): void {
    if (this.list.length === 0) return;
    const at = ({ place }: ConfigProblem): number => (place === undefined ? 0 : place.line * 10_000 + place.column);
    throw new ConfigError(this.list.toSorted((a, b) => at(a) - at(b)));
  }
}
