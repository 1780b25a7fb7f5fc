#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { PACKAGE_ROOT } from "../../src/transport/node/package-file.js";
import { CliError, EXIT, type ExitCode } from "./exit.js";
import { createOutput, type Format, sayProblem } from "./output.js";
import { createProgram, HelpShown } from "./program.js";

function readVersion(): string {
  return (JSON.parse(readFileSync(new URL("package.json", PACKAGE_ROOT), "utf8")) as { version: string }).version;
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
