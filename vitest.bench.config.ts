import { defineConfig } from "vitest/config";

/** `npm run test:bench`: every scenario of the benchmark once, over every protocol. CI runs it by itself: it starts many processes. */
export default defineConfig({
  test: {
    include: ["test/suite/**/*.test.ts"],
    globalSetup: "test/global-setup.ts",
    reporters: ["default", ["json", { outputFile: ".cache/bench.json" }]],
    testTimeout: 900_000,
    pool: "forks",
    fileParallelism: false,
  },
});
