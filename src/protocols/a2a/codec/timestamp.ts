import { DecodeProblem } from "../../../transport/fields.js";

// ProtoJSON: 0 to 9 digits of fraction. Only `Z` may be written; an offset is understood when it is read.
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;
// google.protobuf.Timestamp: the years 1 to 9999.
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

let second = Number.NaN;
let secondText = "";

/** Milliseconds since the epoch as `YYYY-MM-DDTHH:mm:ss.sssZ` (A2A 1.0 §5.6.1). */
export function writeTimestamp(ms: number): string {
  const whole = Math.floor(Math.min(Math.max(ms, FIRST_MS), LAST_MS));
  const milli = ((whole % 1000) + 1000) % 1000;
  // Making a Date costs a microsecond; messages come many to the second.
  if (whole - milli !== second) {
    second = whole - milli;
    secondText = new Date(second).toISOString().slice(0, 20);
  }
  const digits = milli < 10 ? `00${milli}` : milli < 100 ? `0${milli}` : `${milli}`;
  return `${secondText}${digits}Z`;
}

/** Milliseconds since the epoch; digits below the millisecond are cut off. */
export function readTimestamp(value: unknown, path: string): number {
  const match = typeof value === "string" ? TIMESTAMP.exec(value) : null;
  if (match !== null) {
    const [, day = "", time = "", fraction = "", zone = ""] = match;
    const ms = Date.parse(`${day}T${time}.${fraction.padEnd(3, "0").slice(0, 3)}${zone.toUpperCase()}`);
    if (!Number.isNaN(ms)) return ms;
  }
  throw new DecodeProblem(path, "must be a UTC timestamp such as 2025-10-28T10:30:00.000Z");
}
