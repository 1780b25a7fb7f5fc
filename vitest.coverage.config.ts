import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { CoverageGate } from "./test/coverage-gate/gate.js";

/**
 * Tests that run encode, decode, error and stream code in this process, with coverage of it. Less than `npm test`: gateways,
 * processes and the router add minutes and few branches.
 */
export default defineConfig({
  test: {
    globalSetup: "test/global-setup.ts",
    include: [
      "src/{envelope,protocols,policies}/**/*.test.ts",
      "src/transport/*.test.ts",
      "test/{agora,anp,anp-session,bridge,coverage-gate,peers}/**/*.test.ts",
      "test/conformance/koine.test.ts",
      "test/*.test.ts",
    ],
    exclude: ["test/{damaged-store,durable,durable-wires,public-api,redis-starts,replicas,router-bandit}.test.ts"],
    pool: "threads",
    isolate: false,
    // The default is one less than the cores: on two of them, one would be idle.
    maxWorkers: availableParallelism(),
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // The default, a second, is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    reporters: ["default", ["json", { outputFile: ".cache/coverage.json" }], new CoverageGate()],
    coverage: {
      enabled: true,
      provider: "v8",
      reportOnFailure: true,
      include: ["src/{envelope,policies,protocols,tasks,transport}/**/*.ts"],
      exclude: ["**/*.test.ts", "**/requirements/**", "**/fixtures/**"],
      reportsDirectory: ".cache/coverage",
      reporter: ["html"],
    },
  },
});
