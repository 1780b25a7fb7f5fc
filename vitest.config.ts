import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,apps,conformance,bench,test}/**/*.test.ts"],
    exclude: ["test/interop/**", "test/embeddings/**"],
    globalSetup: "test/find-programs.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
