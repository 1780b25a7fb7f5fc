import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SlowestFiles } from "./test/slowest-files.js";

/** `npm run test:full`: what grows with the square of the protocols, thousands of streams, chaos. CI runs it after `npm test`. */
export default defineConfig({
  test: {
    include: ["test/full/**/*.test.ts"],
    globalSetup: "test/global-setup.ts",
    reporters: ["default", ["json", { outputFile: ".cache/full.json" }], new SlowestFiles()],
    // The default is one less than the cores: on two of them, one would be idle.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // The default, a second, is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    pool: "forks",
  },
});
