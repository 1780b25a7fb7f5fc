import { ToolError } from "./tool.js";

const MAX_OPERATIONS = 100;
/** Results are rounded to hundredths. */
const UNIT = 100;

const OPERATIONS: Readonly<Record<string, (value: number, by: number) => number>> = {
  add: (value, by) => value + by,
  "raise by": (value, by) => (value * (100 + by)) / 100,
  "+": (value, by) => value + by,
  "-": (value, by) => value - by,
  "*": (value, by) => value * by,
  "/": (value, by) => value / by,
};

/** Applies operations to a number in the order in which they are given. */
export function compute({
  start,
  apply = "",
  finish = "",
}: {
  readonly start: string;
  readonly apply?: string | undefined;
  readonly finish?: string | undefined;
}): string {
  const steps = [...apply.split(","), finish].map((each) => each.trim()).filter((each) => each !== "");
  if (steps.length > MAX_OPERATIONS) throw new ToolError("invalid", `more than ${MAX_OPERATIONS} operations`);
  const value = steps.reduce((before, step) => {
    const [, name = "", by = ""] = /^([a-z ]+|[-+*/]) ?(-?\d+(?:\.\d+)?)$/.exec(step) ?? [];
    const operation = Object.hasOwn(OPERATIONS, name.trim()) ? OPERATIONS[name.trim()] : undefined;
    if (operation === undefined) throw new ToolError("invalid", `${JSON.stringify(step.slice(0, 60))} is no operation`);
    return operation(before, Number(by));
  }, numberOf(start));
  if (!Number.isFinite(value)) throw new ToolError("invalid", "the result is no number");
  return String(Math.round(value * UNIT) / UNIT);
}

function numberOf(text: string): number {
  if (!/^-?\d{1,15}(\.\d{1,6})?$/.test(text.trim()))
    throw new ToolError("invalid", `${JSON.stringify(text.slice(0, 60))} is no number`);
  return Number(text);
}
