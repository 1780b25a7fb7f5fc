import { spawn } from "node:child_process";
import { checkDemo, type Demo, openDemo } from "../demo/index.js";
import { demoView } from "./demo-view.js";
import { CliError, EXIT } from "./exit.js";
import { type Interrupt, listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";

interface DemoCommandOptions {
  readonly output: Format;
  readonly port: number;
  readonly check?: boolean;
  /** False for `--no-open`. */
  readonly open: boolean;
}

/** `koine demo`: runs it until Ctrl-C, or once as a check. */
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
    // performance.now() counts from the start of the process: the time the user has waited.
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

/** Undefined after an interrupt; then nothing is left running either. */
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
      ? new CliError(EXIT.failure, `port ${port} was taken by another process while the agents started`, { hint })
      : thrown;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The checklist of `koine demo --check`, line by line. Throws if a check failed. */
async function checkOnce(port: number, { signal }: Interrupt, output: Output): Promise<void> {
  const { green, red, dim } = output.colors;
  let failed = 0;
  let all = 0;
  for await (const { what, ok, says, ms } of checkDemo(port, signal)) {
    all++;
    if (!ok) failed++;
    if (output.format === "json") await output.line({ what, ok, says, ms });
    else await output.text(`${ok ? green("ok ") : red("NOT")} ${what}\n      ${dim(`${says} (${ms} ms)`)}\n`);
  }
  const seconds = (performance.now() / 1000).toFixed(1);
  if (failed > 0)
    throw new CliError(EXIT.failure, `${failed} of ${all} did not hold, after ${seconds} s`, { code: "check_failed" });
  if (output.format === "text") output.say(`All ${all} hold, after ${seconds} s.`);
}

/** The program that opens a URL in a browser, per platform; run without a shell. */
const OPENERS: { readonly [platform: string]: readonly [program: string, ...args: string[]] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Opens the page in a browser, if there is one. A failure is ignored: the address is in the terminal. */
function openPage(url: string): void {
  const opener = OPENERS[process.platform];
  const hasDisplay =
    process.platform !== "linux" || process.env["DISPLAY"] !== undefined || process.env["WAYLAND_DISPLAY"] !== undefined;
  if (opener === undefined || !hasDisplay) return;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true, shell: false });
  child.once("error", () => undefined);
  child.unref();
}
