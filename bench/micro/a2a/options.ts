import { parseArgs } from "node:util";
import { COMMON_OPTIONS, parseRounds } from "../../harness/driver.js";

export type Family = "koine" | "a2a-js";

export interface Options {
  readonly mode: "quick" | "full" | "memory";
  /** Undefined: as many as the mode plans. */
  readonly rounds: number | undefined;
  readonly json: string | undefined;
  readonly node: string | undefined;
  /** Only this section of a full run. */
  readonly section: string | undefined;
  /** The arms besides the floor. */
  readonly arms: ReadonlySet<Family>;
  readonly build: boolean;
}

export const HELP = `npm run bench:a2a -- [options]

Measures A2A over HTTP: a bare node:http echo (the floor), Koine, and @a2a-js/sdk, in separate
processes, in interleaved rounds, with the same message. Prints a table and, as last line, one JSON object.

  --quick        only floor, floor again, unary JSON-RPC and task; under 50 seconds
  --memory       resident memory of the server over 100,000 task-producing sends
  --rounds N     rounds of each section (full: 20, quick: as many as fit, at most 24)
  --arms LIST    koine,a2a-js (default both; the floor always runs)
  --section NAME only one of server, both, streams, client send, client stream, kept tasks, open streams,
                 grpc, memory, codec
  --json FILE    write the whole result, every round, to FILE
  --node PATH    run the measured processes on another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

Without an option everything is measured; about five minutes. Only ratios within one run mean anything.
CPU time per answer decides; rounds are added until the 95 % interval of the floor's CPU time against itself is within
0.97 to 1.03, or the time is up and the run is inconclusive.`;

const SECTIONS: readonly string[] = [
  "server",
  "both",
  "streams",
  "client send",
  "client stream",
  "kept tasks",
  "open streams",
  "grpc",
  "memory",
  "codec",
];
const FAMILIES: readonly Family[] = ["koine", "a2a-js"];

/** Undefined for `--help`. Throws an Error with a message for the user on invalid options. */
export function parseOptions(argv: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...COMMON_OPTIONS,
      memory: { type: "boolean", default: false },
      arms: { type: "string", default: FAMILIES.join(",") },
      section: { type: "string" },
    },
  });
  if (values.help) return undefined;
  if (values.quick && values.memory) throw new Error("--quick and --memory cannot go together");
  const arms = new Set(values.arms.split(",").map(parseFamily));
  return {
    mode: values.quick ? "quick" : values.memory ? "memory" : "full",
    rounds: values.rounds === undefined ? undefined : parseRounds(values.rounds),
    json: values.json,
    node: values.node,
    section: values.section === undefined ? undefined : parseSection(values.section),
    arms,
    // Only Koine's arms use the build.
    build: !values["no-build"] && arms.has("koine"),
  };
}

function parseSection(text: string): string {
  if (SECTIONS.includes(text)) return text;
  throw new Error(`--section takes one of ${SECTIONS.join(", ")}, not ${text}`);
}

function parseFamily(text: string): Family {
  const family = FAMILIES.find((name) => name === text);
  if (family === undefined) throw new Error(`--arms takes ${FAMILIES.join(" and ")}, not ${text}`);
  return family;
}
