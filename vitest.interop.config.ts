import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/interop/**/*.interop.test.ts"],
    globalSetup: ["test/global-setup.ts", "test/interop/set-up.ts"],
    reporters: ["default", ["json", { outputFile: ".cache/interop.json" }]],
    // The default is one less than the cores: on two of them, one would be idle.
    maxWorkers: availableParallelism(),
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // The default, a second, is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    pool: "forks",
  },
});
