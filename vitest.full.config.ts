import { defineConfig } from "vitest/config";
import { SlowestFiles } from "./test/slowest-files.js";

/** `npm run test:full`: what grows with the square of the protocols, thousands of streams, chaos. CI runs it after `npm test`. */
export default defineConfig({
  test: {
    include: ["test/full/**/*.test.ts"],
    globalSetup: "test/global-setup.ts",
    reporters: ["default", ["json", { outputFile: ".cache/full.json" }], new SlowestFiles()],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
