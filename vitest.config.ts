import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["{src,cli,conformance,routerbench,bench,dashboard,config,gateway,up,mcp,demo,test}/**/*.test.ts"],
    exclude: ["test/interop/**", "test/embeddings/**"],
    globalSetup: "test/find-programs.ts",
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: "forks",
  },
});
