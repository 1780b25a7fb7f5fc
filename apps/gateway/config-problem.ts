import { AgentError } from "../../src/index.js";
import { type MemberPath, memberOf } from "../config/index.js";

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** Absent where the configuration was not read from a file. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number } | undefined;
  /** `agents[0].upstream`; empty for the whole. */
  readonly member: string;
  readonly message: string;
}

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends AgentError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super("invalid_message", problems.map(problemText).join("\n"), { sent: "no" });
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** `koine.yaml:12:7: agents[0].upstream must be an http or https address`. */
export function problemText({ place, member, message }: ConfigProblem): string {
  const words = `${member === "" ? "the configuration" : member} ${message}`;
  return place === undefined ? words : `${place.file}:${place.line}:${place.column}: ${words}`;
}

type PlaceOf = (path: MemberPath, named: boolean) => ConfigProblem["place"];

/** Collects problems of one configuration, each with its place. */
export class Complaints {
  readonly problems: ConfigProblem[] = [];
  readonly #placeOf: PlaceOf;

  constructor(placeOf: PlaceOf) {
    this.#placeOf = placeOf;
  }

  /** `named`: it is the member's name that is wrong, not its value. */
  add(path: MemberPath, message: string, named = false): void {
    this.problems.push({ place: this.#placeOf(path, named), member: memberOf(path), message });
  }

  /** In the order of the file. */
  throwAny(): void {
    if (this.problems.length === 0) return;
    const at = ({ place }: ConfigProblem): number => (place === undefined ? 0 : place.line * 10_000 + place.column);
    throw new ConfigError(this.problems.toSorted((a, b) => at(a) - at(b)));
  }
}
