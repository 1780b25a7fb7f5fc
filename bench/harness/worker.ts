/** The child side of a bench process: named commands over IPC. A worker ends with its driver. */

export interface Command {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

export type CommandReply = { readonly id: number; readonly value: unknown } | { readonly id: number; readonly error: string };

export interface Usage {
  readonly cpuUs: number;
  readonly rssBytes: number;
  /** What JavaScript holds, in its heap and outside of it. */
  readonly heapBytes: number;
}

/** Answers the driver's commands with these functions, one by one. `usage` and `collect` every worker has. */
export function answerCommands(commands: Readonly<Record<string, (argument: never) => unknown>>): void {
  const all: Readonly<Record<string, (argument: never) => unknown>> = { usage, collect, ...commands };
  process.on("message", (message) => {
    // The driver is the only one on this channel and sends nothing but commands.
    void answer(all, message as Command);
  });
  process.on("disconnect", () => process.exit(0));
}

async function answer(commands: Readonly<Record<string, (argument: never) => unknown>>, command: Command): Promise<void> {
  const { id, name, argument } = command;
  try {
    const run = commands[name];
    if (run === undefined) throw new Error(`no command ${name}`);
    // The argument's type is fixed by the pair of command and caller, both of this bench.
    const value = await run(argument as never);
    process.send?.({ id, value } satisfies CommandReply);
  } catch (thrown) {
    process.send?.({
      id,
      error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    } satisfies CommandReply);
  }
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { cpuUs: user + system, rssBytes: rss, heapBytes: heapUsed + external };
}

/** Twice, because finalizers of the first pass free more; then a moment for the allocator to give pages back. */
async function collect(): Promise<Usage> {
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 100));
  globalThis.gc?.();
  return usage();
}
