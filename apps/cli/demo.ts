import { type Demo, openDemo } from "../demo/index.js";
import { checkOnce } from "./demo-check.js";
import { openPage } from "./demo-open.js";
import type { DemoCommandOptions } from "./demo-options.js";
import { demoView } from "./demo-view.js";
import { CliError, EXIT } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { createOutput, type Output } from "./output.js";

/** Runs the demo until Ctrl-C, or once as a check. */
export async function runDemo(options: DemoCommandOptions): Promise<void> {
  const output = createOutput(options.output);
  const interrupt = listenForInterrupt();
  try {
    if (options.check === true) await checkOnce(options.port, interrupt, output);
    else await show(options, interrupt, output);
  } finally {
    interrupt.stop();
  }
}

async function show(options: DemoCommandOptions, interrupt: Interrupt, output: Output): Promise<void> {
  const view = demoView(output);
  const demo = await started(options, interrupt, view);
  if (demo === undefined) return;
  try {
    // The clock of a process begins with it: this is what whoever typed the command has waited.
    view.up(demo, performance.now(), options.port);
    demo.traffic.start();
    if (options.open && output.stderr.isTTY === true) openPage(demo.gateway.pageUrl ?? demo.gateway.url);
    await untilAborted(interrupt.signal);
    view.stopping();
  } finally {
    await demo.stop();
    view.end();
  }
}

/** Undefined when somebody did not want to wait; then nothing is left running either. */
async function started(
  { port }: DemoCommandOptions,
  { signal }: Interrupt,
  view: ReturnType<typeof demoView>,
): Promise<Demo | undefined> {
  try {
    return await openDemo({
      port,
      signal,
      onPlanned: (harbour) => view.planned(harbour),
      onStatus: (status) => view.status(status),
      onOutput: (id, _stream, line) => view.line(id, line),
      onError: (thrown) => view.line("gateway", thrown instanceof Error ? thrown.message : String(thrown)),
    });
  } catch (thrown) {
    if (signal.aborted) return undefined;
    const hint = "Another demo on the same ports? --port 0 takes free ones.";
    throw thrown instanceof Error && "code" in thrown && thrown.code === "EADDRINUSE"
      ? new CliError(EXIT.failure, `port ${port} was taken by somebody while the agents started`, { hint })
      : thrown;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
