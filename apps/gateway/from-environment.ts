import type { MemberPath } from "../config/index.js";
import type { ConfigProblems } from "./config-problem.js";

const WHOLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}$/;
const SOMEWHERE = /\$\{[A-Za-z_]/;

export interface Substituted {
  readonly value: unknown;
  /** Paths of members whose values came from the environment: never display them. */
  readonly fromEnvironment: ReadonlySet<string>;
}

/** Substitutes `${NAME}` and `${NAME:-default}` as whole values, typed as in the file: 8080 is a number. */
export function fromEnvironment(value: unknown, env: NodeJS.ProcessEnv, problems: ConfigProblems): Substituted {
  const found = new Set<string>();
  const walk = (at: unknown, path: MemberPath): unknown => {
    if (typeof at === "string") return substitute(at, path);
    if (Array.isArray(at)) return at.map((each, index) => walk(each, [...path, index]));
    if (typeof at !== "object" || at === null) return at;
    return Object.fromEntries(Object.entries(at).map(([name, each]) => [name, walk(each, [...path, name])]));
  };
  const substitute = (text: string, path: MemberPath): unknown => {
    const match = WHOLE.exec(text);
    if (match === null) {
      if (SOMEWHERE.test(text))
        problems.add(path, "uses a variable inside a longer text: only a whole value can come from the environment");
      return text;
    }
    const [, name = "", fallback] = match;
    const given = env[name];
    const chosen = given === undefined || given === "" ? fallback : given;
    found.add(JSON.stringify(path));
    if (chosen === undefined) problems.add(path, `requires the environment variable ${name}, which is not set`);
    return chosen === undefined ? undefined : scalarOf(chosen);
  };
  return { value: walk(value, []), fromEnvironment: found };
}

function scalarOf(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
