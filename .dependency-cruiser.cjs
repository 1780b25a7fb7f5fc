// Lower never imports higher; protocols never see each other; nothing but the registry names a protocol. Type imports
// count too: they are how knots grow unseen.
const MAY_IMPORT = {
  "src/envelope": [],
  "src/transport": ["src/envelope"],
  "src/policies": ["src/envelope"],
  "src/security": ["src/envelope", "src/transport"],
  "src/telemetry": ["src/envelope", "src/transport", "src/policies"],
  "src/artifacts": ["src/envelope", "src/transport", "src/security"],
  "src/tasks": ["src/envelope", "src/policies"],
  "src/models": ["src/envelope", "src/transport"],
  "src/protocols": ["src/envelope", "src/transport", "src/models"],
  "src/router": ["src/envelope", "src/models", "src/protocols/(protocol|features|candidates)\\.ts"],
  "src/embeddings": ["src/envelope", "src/router/embedder\\.ts"],
  "src/gateway": [
    "src/envelope",
    "src/policies",
    "src/transport",
    "src/tasks/index\\.ts",
    "src/protocols/(protocol|front|host|index)\\.ts",
  ],
  "src/inspect": ["src/envelope", "src/policies", "src/transport", "src/telemetry", "src/protocols/(front|protocol)\\.ts"],
  "src/network": ["src/envelope", "src/router/(decision|scenario)\\.ts", "src/router/forms/index\\.ts", "src/protocols/(protocol|features|candidates|all)\\.ts"],
  "src/agent": [
    "src/envelope",
    "src/policies",
    "src/transport",
    "src/security",
    "src/telemetry",
    "src/tasks",
    "src/artifacts",
    "src/gateway",
    "src/models",
    "src/protocols/(protocol|front|host|all|index)\\.ts",
  ],
  bench: [
    "src/index\\.ts",
    "src/router/index\\.ts",
    "src/embeddings/index\\.ts",
    "src/transport/node/index\\.ts",
    "src/protocols/[^/]+/",
  ],
  conformance: ["src/"],
  routerbench: ["src/index\\.ts", "src/router/index\\.ts", "src/embeddings/index\\.ts"],
  dashboard: ["src/index\\.ts"],
  gateway: ["src/index\\.ts", "src/transport/node/index\\.ts", "dashboard/index\\.ts"],
  up: ["src/index\\.ts", "src/router/index\\.ts"],
  mcp: ["src/index\\.ts"],
  demo: ["src/index\\.ts", "src/router/index\\.ts", "gateway/index\\.ts", "up/index\\.ts", "dashboard/index\\.ts"],
  cli: [
    "src/index\\.ts",
    "src/router/index\\.ts",
    "src/embeddings/index\\.ts",
    "src/transport/node/index\\.ts",
    "gateway/index\\.ts",
    "up/index\\.ts",
    "mcp/index\\.ts",
    "demo/index\\.ts",
    "bench/index\\.ts",
    "conformance/index\\.ts",
    "routerbench/index\\.ts",
  ],
};

const layers = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `layer ${folder}`,
  severity: "error",
  from: { path: `^${folder}/` },
  to: {
    path: "^(src|bench|conformance|routerbench|cli|dashboard|gateway|up|mcp|demo)/",
    pathNot: [folder, ...allowed].map((path) => `^${path}`),
  },
}));

module.exports = {
  forbidden: [
    ...layers,
    { name: "no cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "protocols do not know each other",
      severity: "error",
      from: { path: "^src/protocols/([^/]+)/" },
      to: { path: "^src/protocols/([^/]+)/", pathNot: "^src/protocols/$1/" },
    },
    {
      name: "only the registry names a protocol",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/protocols/([^/]+/|registry\\.ts)" },
      to: { path: "^src/protocols/[^/]+/" },
    },
    {
      name: "node built-ins stay at the edges",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(transport/node|tasks/stores|artifacts|security|embeddings)/" },
      to: { dependencyTypes: ["core"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|examples)|\\.test\\.ts$" },
  },
};
