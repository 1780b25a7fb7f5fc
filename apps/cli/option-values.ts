import { InvalidArgumentError } from "commander";
import type { Json, JsonObject } from "../../src/index.js";
import { usageError } from "./exit.js";

/** Parsers of option values. Each throws an error that is reported as a usage error. */

const MAX_SECONDS = 86_400 * 7;

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

/** Seconds, as milliseconds. */
export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds > 0) || seconds > MAX_SECONDS)
    throw new InvalidArgumentError(`A time is a number of seconds above 0 and up to ${MAX_SECONDS}.`);
  return Math.max(1, Math.round(seconds * 1000));
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It is a whole number above 0.");
  return Number(text);
}

/** Above 0 and below 1. */
export function parseShare(text: string): number {
  const share = Number(text);
  if (!(share > 0) || !(share < 1)) throw new InvalidArgumentError("A share is a number above 0 and below 1.");
  return share;
}

/** A whole number, which may be negative. */
export function parseWhole(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It is a whole number.");
  return Number(text);
}

export function parseVersion(text: string): string {
  if (!/^\d{1,9}(?:\.\d{1,9}){0,3}$/.test(text)) throw new InvalidArgumentError("A version looks like 1.0.");
  return text;
}

/** A date, a time, or seconds since the epoch, as milliseconds since the epoch. */
export function parseMoment(text: string): number {
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  if (!Number.isFinite(ms)) throw new InvalidArgumentError("A time looks like 2026-01-31T12:00:00Z.");
  return ms;
}

export function parseJson(text: string): Json {
  try {
    // JSON.parse gives JSON.
    return JSON.parse(text) as Json;
  } catch {
    throw new InvalidArgumentError("It is not JSON.");
  }
}

/** For an option that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** `key=value`, several times. The value is text. */
export function collectPairs(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It looks like key=value.");
  return new Map(before).set(text.slice(0, equals), text.slice(equals + 1));
}

/** `protocol.key=value`, several times: the settings of each protocol. */
export function settingsOf(pairs: ReadonlyMap<string, string>): { readonly [protocol: string]: JsonObject } {
  const settings = new Map<string, Map<string, Json>>();
  for (const [path, value] of pairs) {
    const dot = path.indexOf(".");
    if (dot < 1 || dot === path.length - 1) throw new InvalidArgumentError(`--set ${path}: it looks like protocol.key=value.`);
    const protocol = path.slice(0, dot);
    const members = settings.get(protocol) ?? new Map<string, Json>();
    settings.set(protocol, members.set(path.slice(dot + 1), plainValue(value)));
  }
  return Object.fromEntries(Array.from(settings, ([protocol, members]) => [protocol, Object.fromEntries(members)]));
}

/** Only `true` and `false` are more than text: `1.0` is a version, not a number. */
function plainValue(text: string): Json {
  return text === "true" ? true : text === "false" ? false : text;
}

/** The distinct items of a comma-separated list. */
export function wordsIn(list: string, option: string): readonly string[] {
  const words = [...new Set(list.split(",").map((word) => word.trim()))].filter((word) => word !== "");
  if (words.length === 0) throw usageError(`${option} is an empty list`);
  return words;
}

/** The same, for a fixed set of items. */
export function knownWords<T extends string>(list: string, option: string, known: readonly T[]): readonly T[] {
  return wordsIn(list, option).map((word) => {
    const found = known.find((each) => each === word.toLowerCase());
    if (found === undefined)
      throw usageError(`${option}: ${JSON.stringify(word)} is not known`, `There are: ${known.join(", ")}`);
    return found;
  });
}

/** A list of interface names: `a2a@1.0,acp`. */
export function parseInterfaces(text: string): readonly string[] {
  const interfaces = text.split(",").map((each) => each.trim());
  if (interfaces.some((each) => each === "")) throw new InvalidArgumentError("It looks like a2a@1.0,acp.");
  return interfaces;
}
