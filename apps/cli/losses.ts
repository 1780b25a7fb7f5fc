import type { Loss } from "../../src/index.js";
import type { LossSink } from "../../src/internal.js";
import type { Output } from "./output.js";
import { oneLine } from "./printable.js";

/** A long stream may lose the same kind of thing at every event; nobody reads more lines than these. */
const TOLD_AT_MOST = 20;

/** Says what the protocol could not carry, each thing once: with `-o json` as JSON, because then stderr is read by programs. */
export function lossReporter(output: Output): LossSink {
  const told = new Set<string>();
  return ({ protocol, path, valueKind, reason }: Loss) => {
    const key = `${path} ${reason}`;
    if (told.has(key) || told.size >= TOLD_AT_MOST) return;
    told.add(key);
    if (output.format === "json") output.say(JSON.stringify({ loss: { protocol, path, kind: valueKind, reason } }));
    else output.say(output.colors.dim(`lost on the way: ${oneLine(path, 200)} (${oneLine(reason, 300)})`));
  };
}
