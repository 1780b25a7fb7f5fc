import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/embeddings/**/*.test.ts"],
    globalSetup: ["test/embeddings/set-up.ts"],
    reporters: ["default", ["json", { outputFile: ".cache/embeddings.json" }]],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
});
