import { readdirSync, readFileSync } from "node:fs";
import { READINGS } from "../src/router/evidence/readings.js";

/** A sentence, and how it is to be read. */
export interface Sample {
  readonly text: string;
  /** Which of `READINGS`. */
  readonly reading: number;
  /** It mentions a need as denied, avoided, or someone else's. */
  readonly turned: boolean;
}

const NONE = READINGS.indexOf("none");

/** A file of `needs` is named for its capability; one of `other` for why its sentences express none. */
export function readSamples(folder = new URL(".", import.meta.url)): readonly Sample[] {
  const needs = linesBelow(new URL("needs/", folder)).map(({ name, text }) => {
    const reading = READINGS.findIndex((id) => id === name);
    if (reading < 0) throw new Error(`needs/${name}.txt is named for no capability`);
    return { text, reading, turned: false };
  });
  const other = linesBelow(new URL("other/", folder)).map(({ name, text }) => ({
    text,
    reading: NONE,
    turned: name !== "unrelated",
  }));
  return [...needs, ...other];
}

function linesBelow(folder: URL): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .flatMap((file) =>
      readFileSync(new URL(file, folder), "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((text) => ({ name: file.replace(".txt", ""), text })),
    );
}
