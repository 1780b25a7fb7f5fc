import type { Loss } from "../../src/index.js";

/** The paths at which two values differ. A member that is missing as a whole is one path. */
export function differences(sent: unknown, got: unknown, path: string): readonly string[] {
  if (sent instanceof Uint8Array || got instanceof Uint8Array)
    return sent instanceof Uint8Array && got instanceof Uint8Array && Buffer.compare(sent, got) === 0 ? [] : [path];
  if (Array.isArray(sent) && Array.isArray(got)) {
    if (sent.length !== got.length) return [path];
    return sent.flatMap((item, index) => differences(item, got[index], `${path}[${index}]`));
  }
  if (isRecord(sent) && isRecord(got)) {
    const names = new Set([...Object.keys(sent), ...Object.keys(got)]);
    return [...names].flatMap((name) => differences(own(sent, name), own(got, name), `${path}.${name}`));
  }
  return Object.is(sent, got) || (isEmpty(sent) && isEmpty(got)) ? [] : [path];
}

/**
 * Unreported differences. A loss covers its path and everything below it; its index may be omitted. The loss of an item also covers
 * that its list is shorter.
 */
export function unreported(places: readonly string[], losses: readonly Loss[]): readonly string[] {
  const reported = losses.map(({ path }) => spelled(path));
  return places.filter((place) => !reported.some((path) => path !== "" && isBelow(spelled(place), path)));
}

function isBelow(place: string, path: string): boolean {
  return place === path || `${place}[]` === path || (place.startsWith(path) && /^[.[]/.test(place.slice(path.length)));
}

/** Spellings of the same path: `message.parts[0]` on wires, `message.content[0]` in the envelope, `context` for `message.context`. */
function spelled(path: string): string {
  return path
    .replaceAll(/\[\d*\]/g, "[]")
    .replace(/(^|\.)parts(?=\[|$)/g, "$1content")
    .replace(/^(?=(context|meta)\b)/, "message.")
    .replace(/=.*$/, "");
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const own = (value: Record<string, unknown>, name: string): unknown => (Object.hasOwn(value, name) ? value[name] : undefined);
/** Absent and empty are equal. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Object.values(value).every((member) => member === undefined));
