import type { z } from "zod";
import { type MemberPath, nearestOf } from "../config/index.js";

type Issue = z.core.$ZodIssue;

/** A problem of one member. `named`: the problem is the member's key, not its value. */
export interface SchemaProblem {
  readonly path: MemberPath;
  readonly message: string;
  readonly named: boolean;
}

/** Converts zod issues to problems; issues of unions are resolved to the intended branch. */
export function schemaProblems(schema: z.ZodType, issues: readonly Issue[]): readonly SchemaProblem[] {
  return issues.flatMap((issue) => problemsOf(schema, issue, []));
}

function problemsOf(schema: z.ZodType, issue: Issue, base: MemberPath): readonly SchemaProblem[] {
  const path = [...base, ...issue.path.filter((part) => typeof part !== "symbol")];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: unknownKeyMessage(key, membersAt(schema, path)),
      named: true,
    }));
  if (issue.code !== "invalid_union") return [{ path, message: issue.message, named: false }];
  const branch = intendedBranch(issue.errors, issue.message !== UNION);
  return branch === undefined
    ? [{ path, message: issue.message === UNION ? "is not an allowed value" : issue.message, named: false }]
    : branch.flatMap((each) => problemsOf(schema, each, path));
}

/** The branch that is invalid only below the top level. A union with its own message is stricter about unknown keys. */
function intendedBranch(branches: readonly (readonly Issue[])[], hasMessage: boolean): readonly Issue[] | undefined {
  const wrongAtTop = ({ path, code }: Issue): boolean => path.length === 0 && (hasMessage || code !== "unrecognized_keys");
  return branches.filter((branch) => !branch.some(wrongAtTop)).toSorted((a, b) => a.length - b.length)[0];
}

const UNION = "is not an allowed value";

/** Messages for issues that have none in the schema. */
export function schemaMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? "is missing"
        : `must be ${WANTED[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case "invalid_value":
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must be ${issue.inclusive === true ? "at least" : "more than"} ${String(issue.minimum)}`;
    case "too_big":
      return `must be ${issue.inclusive === true ? "at most" : "less than"} ${String(issue.maximum)}`;
    case "invalid_union":
      return UNION;
    default:
      return undefined;
  }
}

const WANTED: { readonly [expected: string]: string } = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
};

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return WANTED[typeof value] ?? typeof value;
}

function unknownKeyMessage(key: string, known: readonly string[]): string {
  const near = nearestOf(key, known);
  return near === undefined ? `is unknown; available: ${known.join(", ")}` : `is unknown; did you mean ${near}?`;
}

/** The members allowed at a path, over all branches. */
function membersAt(schema: z.ZodType, path: MemberPath): readonly string[] {
  let level = [schema];
  for (const part of path) level = level.flatMap(plain).flatMap((each) => stepInto(each, part));
  return [...new Set(level.flatMap(plain).flatMap((each) => Object.keys(shapeOf(each) ?? {})))];
}

/** The members of zod's schema definitions that are used here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: { readonly [name: string]: z.ZodType };
}

function definitionOf(schema: z.ZodType): Definition {
  return schema.def as Definition; // every member is optional here
}

/** Unwraps optional and union schemas. */
function plain(schema: z.ZodType): readonly z.ZodType[] {
  const { innerType, options } = definitionOf(schema);
  if (innerType !== undefined) return plain(innerType);
  return options === undefined ? [schema] : options.flatMap(plain);
}

const shapeOf = (schema: z.ZodType): Definition["shape"] => definitionOf(schema).shape;

function stepInto(schema: z.ZodType, part: string | number): readonly z.ZodType[] {
  const { element, valueType, shape } = definitionOf(schema);
  const next = typeof part === "number" ? element : (shape?.[part] ?? valueType);
  return next === undefined ? [] : [next];
}
