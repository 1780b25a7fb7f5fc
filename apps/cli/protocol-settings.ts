import type { Json, ServeOptions } from "../../src/index.js";
import { type Protocol, protocols } from "../../src/public/protocols.js";
import { usageError } from "./exit.js";
import { settingsOf } from "./option-values.js";

/** The values of `--set` as given: `protocol.key` and the text. */
export type SettingPairs = ReadonlyMap<string, string>;

/** The values of `--set`, checked by what each protocol declares. */
export function checkedSettings(set: SettingPairs = new Map()): NonNullable<ServeOptions["settings"]> {
  return Object.fromEntries(
    Object.entries(settingsOf(set)).map(([id, given]) => {
      const protocol = protocols.find((each) => each.id === id);
      if (protocol === undefined)
        throw usageError(
          `--set ${id}.…: no protocol is called ${id}`,
          `There are: ${protocols.map((each) => each.id).join(", ")}`,
        );
      return [id, Object.fromEntries(Object.entries(given).map(([name, value]) => [name, settingValue(protocol, name, value)]))];
    }),
  );
}

/** Converts a value to the kind its protocol declares. */
function settingValue({ id, settings = [] }: Protocol, name: string, value: Json | undefined): Json | undefined {
  const info = settings.find((each) => each.name === name);
  if (info === undefined)
    throw usageError(
      `--set ${id}.${name}: there is no such setting`,
      settings.length === 0 ? `${id} has none.` : `There are: ${settings.map((each) => each.name).join(", ")}`,
    );
  if (info.kind !== "number") return value;
  const number = Number(value);
  if (value === "" || !Number.isFinite(number)) throw usageError(`--set ${id}.${name}: ${String(value)} is not a number`);
  return number;
}
