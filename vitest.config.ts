import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,cli,conformance,bench,test}/**/*.test.ts"],
    exclude: ["test/interop/**"],
    globalSetup: "test/find-programs.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
