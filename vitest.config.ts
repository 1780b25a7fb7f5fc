import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SlowestFiles } from "./test/slowest-files.js";

/** Tests that start processes of their own: children, Redis, killed servers. */
const PROCESS = [
  "test/bench/**",
  "test/cli/**",
  "test/demo/**",
  "test/gateway/{admin,clear-upstream,config-cli,faults-*,health,replicas,restart,reload,credentials-kept}.test.ts",
  "test/inspect/cli.test.ts",
  "test/mcp/**",
  "test/network/**",
  "test/watermark/**",
  "test/{damaged-store,durable,durable-wires,first-call,replicas}.test.ts",
  "test/sage/**",
  "test/router/{bandit-processes,determinism}.test.ts",
  // Recurses until the stack of a process ends: worker threads have a larger one.
  "test/conformance/official-servers.test.ts",
  "apps/cli/{audit,main,mcp,task}.test.ts",
  "apps/up/child.test.ts",
  "src/artifacts/uploads.test.ts",
  "src/security/audit-file.test.ts",
  "src/tasks/stores/redis.test.ts",
  "src/tasks/stores/redis/*.test.ts",
  "src/tasks/stores/sqlite-processes.test.ts",
  "src/tasks/stores/sqlite/record-table.test.ts",
];
/** Tests that look at a page in Chromium. */
const BROWSER = ["test/dashboard/{cross-site-session,demo-page,page,panels}.test.ts", "test/bench-report/page.test.ts"];
/** Run by other commands: `npm run test:interop`, `test:embeddings`, `test:full`, `test:attack`, `test:bench`. */
const ELSEWHERE = ["test/interop/**", "test/embeddings/**", "test/full/**", "test/attack/**", "test/suite/**"];

/** `npm run test:nodes` leaves out, on the newest version of Node, calculations that use nothing of it, and benchmarks. */
const CALCULATIONS = [
  "src/{envelope,policies}/**",
  "src/router/**",
  "src/protocols/*/{codec,requirements}/**",
  "{bench,conformance}/**",
  "test/router/**",
  "test/gateway/pairs-*.test.ts",
  "test/conformance/!(koine).test.ts",
];
/** On versions between the oldest and the newest it runs what is nearest to Node: sockets, TLS, HTTP/2, keys, files, SQLite. */
const EDGES = [
  "src/{artifacts,client,security,server,transport}/**/*.test.ts",
  "src/tasks/stores/**/*.test.ts",
  "src/protocols/{anp,sage}/**/*.test.ts",
  "src/protocols/*/grpc/**/*.test.ts",
  "test/*.test.ts",
  "test/{anp-session,peers,wires}/**/*.test.ts",
  "test/gateway/{cut-upstream,pairs}.test.ts",
];
const SCOPE = process.env["KOINE_TEST_SCOPE"] ?? "all";
const LEFT_OUT = SCOPE === "platform" ? CALCULATIONS : [];
const inScope = (folder: RegExp, all: string): string[] =>
  SCOPE === "edges" ? EDGES.filter((path) => folder.test(path)) : [all];

export default defineConfig({
  test: {
    globalSetup: "test/global-setup.ts",
    reporters: ["default", ["json", { outputFile: process.env["KOINE_TEST_REPORT"] ?? ".cache/test.json" }], new SlowestFiles()],
    // More workers than cores: many tests wait for a process or a socket.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // The default, a second, is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      // Longest first: the others fill the gaps.
      { extends: true, test: { name: "process", pool: "forks", isolate: false, include: PROCESS.map(asTests) } },
      { extends: true, test: { name: "browser", pool: "forks", isolate: false, include: BROWSER } },
      {
        extends: true,
        test: {
          name: "wire",
          pool: "threads",
          isolate: false,
          include: inScope(/^test/, "test/**/*.test.ts"),
          exclude: [...PROCESS, ...BROWSER, ...ELSEWHERE, ...LEFT_OUT],
        },
      },
      {
        extends: true,
        test: {
          name: "unit",
          pool: "threads",
          isolate: false,
          include: inScope(/^src/, "{src,apps,bench,conformance}/**/*.test.ts"),
          exclude: [...PROCESS, ...LEFT_OUT],
        },
      },
    ],
  },
});

function asTests(pattern: string): string {
  return pattern.endsWith("/**") ? `${pattern}/*.test.ts` : pattern;
}
