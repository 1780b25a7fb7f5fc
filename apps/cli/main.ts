#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { CliError, EXIT, type ExitCode } from "./exit.js";
import { createOutput, type Format, sayProblem } from "./output.js";
import { createProgram, NothingMore } from "./program.js";

/** The package is one folder up from its source and two from what is built. */
function readVersion(): string {
  for (const place of ["../../../package.json", "../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8")) as {
        name?: string;
        version?: string;
      };
      if (name === "koine" && version !== undefined) return version;
    } catch {
      // The other place.
    }
  }
  return "unknown";
}

/** Needed for errors that come before the options are understood. */
function wantedFormat(args: readonly string[]): Format {
  const asked = args.some((arg, index) => {
    if (arg === "--output=json" || arg === "-ojson") return true;
    return (arg === "-o" || arg === "--output") && args[index + 1] === "json";
  });
  return asked || process.env["KOINE_OUTPUT"] === "json" ? "json" : "text";
}

async function run(args: readonly string[]): Promise<ExitCode> {
  try {
    const program = await createProgram(readVersion(), args);
    await program.parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (thrown) {
    if (thrown instanceof NothingMore) return EXIT.ok;
    // Errors of the library bring the library with them; usage errors are told without it.
    const problem = thrown instanceof CliError ? thrown : (await import("./problem.js")).problemOf(thrown);
    sayProblem(problem, createOutput(wantedFormat(args)));
    return problem.exit;
  }
}

/** A reader that has seen enough, such as `head`, closes the pipe: that is no failure of ours. */
function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failure);
}

process.stdout.on("error", endOnClosedPipe);
process.stderr.on("error", endOnClosedPipe);
const code = await run(process.argv.slice(2));
// What was written must be out before the process ends; an open connection must not keep it alive.
process.stdout.write("", () => process.exit(code));
