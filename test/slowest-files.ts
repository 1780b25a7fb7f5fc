import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

/** Prints the slowest test files at the end of a run. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules
      .map((module) => ({ name: module.relativeModuleId, ms: millisecondsOf(module) }))
      .sort((a, b) => b.ms - a.ms);
    if (timed.length <= SHOWN) return;
    const lines = timed.slice(0, SHOWN).map(({ name, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${name}`);
    process.stdout.write(`\n${SHOWN} slowest test files\n${lines.join("\n")}\n\n`);
  }
}

function millisecondsOf(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic();
  return collectDuration + duration;
}
