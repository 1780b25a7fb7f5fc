import { AgentError } from "../../src/index.js";
import type { EmbeddingsStatus } from "../../src/router/embeddings/index.js";
import { CliError, EXIT } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { printable } from "./printable.js";
import { problemOf } from "./problem.js";
import { startProgress } from "./progress.js";

interface EmbeddingsOptions {
  readonly output: Format;
  readonly embeddingsDir?: string;
}

const BYTES_PER_MB = 1_000_000;

export async function install({ output: format, embeddingsDir: dir }: EmbeddingsOptions): Promise<void> {
  const { installEmbeddings, embeddingsStatus } = await import("../../src/router/embeddings/index.js");
  const output = createOutput(format);
  const interrupt = listenForInterrupt();
  const progress = startProgress({ stream: output.stderr });
  const onStep = (step: string, what: string): void => {
    progress.show(step, what);
    // Without a terminal each step is a line.
    if (output.stderr.isTTY !== true) output.say(`${step} ${what}`);
  };
  try {
    const { changed } = await installEmbeddings({ dir, signal: interrupt.signal, onStep });
    progress.stop();
    if (!changed) output.say("already installed");
    await print(await embeddingsStatus({ dir }), output);
  } catch (thrown) {
    throw asProblem(thrown);
  } finally {
    progress.stop();
    interrupt.stop();
  }
}

export async function status({ output: format, embeddingsDir: dir }: EmbeddingsOptions): Promise<void> {
  const { embeddingsStatus } = await import("../../src/router/embeddings/index.js");
  await print(await embeddingsStatus({ dir }), createOutput(format));
}

export async function remove({ output: format, embeddingsDir: dir }: EmbeddingsOptions): Promise<void> {
  const { embeddingsDir, removeEmbeddings } = await import("../../src/router/embeddings/index.js");
  const output = createOutput(format);
  const removed = await removeEmbeddings({ dir });
  if (format === "json") await output.document({ dir: embeddingsDir(dir), removed });
  else await output.text(removed ? `removed ${embeddingsDir(dir)}\n` : "nothing to remove\n");
}

async function print({ dir, state, problem, parts }: EmbeddingsStatus, output: Output): Promise<void> {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (output.format === "json") {
    const facts = { dir, state, ...(problem === undefined ? {} : { problem }), bytes };
    return output.document({ ...facts, parts: parts.map(({ name, version, bytes }) => ({ name, version, bytes })) });
  }
  const lines = parts.map((part) => `  ${inMegabytes(part.bytes)}  ${part.name}@${part.version}`);
  const first = state === "absent" ? `not installed in ${dir}` : `${state} in ${dir}, ${inMegabytes(bytes).trim()}`;
  await output.text(`${[problem === undefined ? first : `${first}: ${problem}`, ...lines].join("\n")}\n`);
  if (state !== "ready") output.say(`Run \`koine embeddings install\` to ${state === "absent" ? "install" : "reinstall"} it`);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MB).toFixed(1).padStart(6)} MB`;
}

/** Replaces the hints of error codes, which are about calling an agent. */
function asProblem(thrown: unknown): unknown {
  if (!(thrown instanceof AgentError)) return thrown;
  const { code, message, exit } = problemOf(thrown);
  const reason = thrown.facts.detail?.["said"];
  if (code === "unavailable" && reason !== undefined)
    return new CliError(EXIT.unreachable, message, {
      code,
      hint: "Is the registry that npm uses reachable? Run it again later: what was fetched is kept.",
    });
  if (code === "bad_signature")
    return new CliError(EXIT.failure, message, {
      code,
      hint: "Nothing was installed. Contact the registry's operator; this check cannot be skipped.",
    });
  return new CliError(exit, printable(message), { code });
}
