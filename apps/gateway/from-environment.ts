import type { MemberPath } from "../config/index.js";
import type { Complaints } from "./config-problem.js";

const WHOLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}$/;
const SOMEWHERE = /\$\{[A-Za-z_]/;

export interface Substituted {
  readonly value: unknown;
  /** The members whose values came from the environment: these are never shown. */
  readonly fromEnvironment: ReadonlySet<string>;
}

/** `${NAME}` and `${NAME:-default}` as whole values. What stands there is read as the file would be: 8080 is a number. */
export function fromEnvironment(value: unknown, env: NodeJS.ProcessEnv, complaints: Complaints): Substituted {
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
        complaints.add(path, "names a variable inside a longer text: only a whole value comes from the environment");
      return text;
    }
    const [, name = "", fallback] = match;
    const given = env[name];
    const taken = given === undefined || given === "" ? fallback : given;
    found.add(JSON.stringify(path));
    if (taken === undefined) complaints.add(path, `comes from the environment variable ${name}, which is not set`);
    return taken === undefined ? undefined : scalarOf(taken);
  };
  return { value: walk(value, []), fromEnvironment: found };
}

function scalarOf(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
