import { DecodeProblem } from "./fields.js";

// ProtoJSON: 0 to 9 fraction digits. Only `Z` is written; offsets are accepted when reading.
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;
// google.protobuf.Timestamp: the years 1 to 9999.
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** The text of a second, up to the point. */
interface Second {
  readonly ms: number;
  readonly text: string;
}

// The two that were written last: what is passed on has the time of its author, and what is answered that of now.
let latest: Second = { ms: Number.NaN, text: "" };
let earlier = latest;

/** Milliseconds since the epoch as `YYYY-MM-DDTHH:mm:ss.sssZ` (RFC 3339, in UTC). */
export function writeTimestamp(ms: number): string {
  const clamped = Math.floor(Math.min(Math.max(ms, FIRST_MS), LAST_MS));
  const milli = ((clamped % 1000) + 1000) % 1000;
  const digits = milli < 10 ? `00${milli}` : milli < 100 ? `0${milli}` : `${milli}`;
  return `${secondText(clamped - milli)}${digits}Z`;
}

/** Creating a Date costs a microsecond; many messages fall into the same second. */
function secondText(ms: number): string {
  if (ms === latest.ms) return latest.text;
  const found = ms === earlier.ms ? earlier : { ms, text: new Date(ms).toISOString().slice(0, 20) };
  earlier = latest;
  latest = found;
  return found.text;
}

/** The milliseconds of our own format, `.sssZ` after the seconds; undefined for any other. */
function readMillis(value: string): number | undefined {
  if (value.charCodeAt(19) !== 0x2e || value.charCodeAt(23) !== 0x5a) return undefined;
  const a = value.charCodeAt(20) - 0x30;
  const b = value.charCodeAt(21) - 0x30;
  const c = value.charCodeAt(22) - 0x30;
  return isDigit(a) && isDigit(b) && isDigit(c) ? a * 100 + b * 10 + c : undefined;
}

function isDigit(value: number): boolean {
  return value >= 0 && value <= 9;
}

let readSecond = Number.NaN;
let readSecondText = "no second was read yet";

/** Milliseconds since the epoch; further digits are truncated. */
export function readTimestamp(value: unknown, path: string): number {
  const ms = parseTimestamp(value);
  if (ms !== undefined) return ms;
  throw new DecodeProblem(path, `must be ${TIMESTAMP_FORM}`);
}

/** What a timestamp is, for messages. */
export const TIMESTAMP_FORM = "a UTC timestamp such as 2025-10-28T10:30:00.000Z";

/** The same for members that may be anything: undefined if it is no timestamp, for example because it has no zone. */
export function parseTimestamp(value: unknown): number | undefined {
  // Fast path for our own format within the second that was read last: parsing a date costs a microsecond.
  if (typeof value === "string" && value.length === 24 && value.startsWith(readSecondText)) {
    const milli = readMillis(value);
    if (milli !== undefined) return readSecond + milli;
  }
  const match = typeof value === "string" ? TIMESTAMP.exec(value) : null;
  if (match !== null) {
    const [, day = "", time = "", fraction = "", zone = ""] = match;
    const ms = Date.parse(`${day}T${time}.${fraction.padEnd(3, "0").slice(0, 3)}${zone.toUpperCase()}`);
    if (!Number.isNaN(ms)) {
      if (zone === "Z") {
        readSecond = Math.floor(ms / 1000) * 1000;
        readSecondText = `${day}T${time}`;
      }
      return ms;
    }
  }
  return undefined;
}
