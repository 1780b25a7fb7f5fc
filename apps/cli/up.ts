import { AgentError } from "../../src/index.js";
import { type Launched, launch, type NodeStatus, type Plan, readPlan } from "../up/index.js";
import { CliError, EXIT } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Output } from "./output.js";
import { STOPPING } from "./until-stopped.js";
import { healthView } from "./up-health.js";
import { networkJson, networkText } from "./up-network.js";
import type { UpOptions } from "./up-options.js";

/** Reads a plan, and starts it unless it is only to be checked. Ends with Ctrl-C, or when nothing is left to keep running. */
export async function runUp(file: string, options: UpOptions): Promise<void> {
  const output = createOutput(options.output);
  const plan = await explained(() => readPlan(file));
  if (options.check === true) {
    if (output.format === "json") await output.document(networkJson(plan));
    else await output.text(networkText(plan));
    return;
  }
  await keepUp(plan, output);
}

async function keepUp(plan: Plan, output: Output): Promise<void> {
  const interrupt = listenForInterrupt();
  const view = healthView(output, plan);
  const launched = await explained(() => launch(plan, { onOutput: (id, _stream, line) => view.line(id, line) }));
  const tell = (status: NodeStatus): void => view.change(status, launched.nodes());
  for (const status of launched.nodes()) tell(status);
  const off = launched.onChange(tell);
  try {
    await interrupt.race(nothingLeft(launched)).catch((thrown: unknown) => {
      if (!interrupt.signal.aborted) throw thrown;
    });
  } finally {
    if (interrupt.signal.aborted) view.say(STOPPING);
    await launched.stop();
    off();
    view.end();
    interrupt.stop();
  }
}

/** Rejects when every process was given up; else it waits. */
function nothingLeft(launched: Launched): Promise<never> {
  return new Promise((_resolve, reject) => {
    const look = (): void => {
      const kept = launched.nodes().filter(({ kind, state }) => kind !== "url" && state !== "unspoken");
      if (kept.length === 0 || kept.some(({ state }) => state !== "gave-up")) return;
      reject(new CliError(EXIT.failure, "every module was given up; nothing is left to keep running"));
    };
    launched.onChange(look);
    look();
  });
}

/** What is wrong with a plan, with advice that is meant for plans. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    const hint = HINTS[thrown.code];
    throw new CliError(EXIT.failure, thrown.message, { code: thrown.code, ...(hint === undefined ? {} : { hint }) });
  }
}

const HINTS: { readonly [code: string]: string } = {
  downgrade_refused: "Give both modules a protocol that keeps it, or accept the loss: allowDowngrade: [{ src, dst, because }].",
  unauthenticated: "Set the variable, or write the file; the plan itself holds no secrets.",
  conflict: "A module without a port gets a free one.",
};
