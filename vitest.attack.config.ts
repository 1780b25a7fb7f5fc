import { defineConfig } from "vitest/config";

/** `npm run test:attack`: scripted attacks on a gateway process. One after the other: each is measured by itself. */
export default defineConfig({
  test: {
    include: ["test/attack/**/*.test.ts"],
    globalSetup: "test/global-setup.ts",
    reporters: ["default", ["json", { outputFile: ".cache/attack.json" }]],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    fileParallelism: false,
  },
});
