#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { CliError, EXIT, type ExitCode } from "./exit.js";
import { createOutput, type Format, sayProblem } from "./output.js";
import { createProgram, HelpShown } from "./program.js";

/** The package is one folder up from its source and two from what is built. */
function readVersion(): string {
  for (const path of ["../../../package.json", "../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")) as {
        name?: string;
        version?: string;
      };
      if (name === "koine" && version !== undefined) return version;
    } catch {
      // Try the next path.
    }
  }
  return "unknown";
}

/** The format for errors that occur before the options are parsed. */
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
    if (thrown instanceof HelpShown) return EXIT.ok;
    // Usage errors are reported without loading the library.
    const problem = thrown instanceof CliError ? thrown : (await import("./problem.js")).problemOf(thrown);
    sayProblem(problem, createOutput(wantedFormat(args)));
    return problem.exit;
  }
}

/** A reader such as `head` closes the pipe early: that is no failure. */
function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failure);
}

process.stdout.on("error", endOnClosedPipe);
process.stderr.on("error", endOnClosedPipe);
const code = await run(process.argv.slice(2));
// Flush stdout before exiting; an open connection must not keep the process alive.
process.stdout.write("", () => process.exit(code));
