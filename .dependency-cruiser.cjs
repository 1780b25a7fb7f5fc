// The tree of CONTRIBUTING.md as rules. Lower never imports higher; protocols never see each other; only the registry names a
// protocol; programs see the library's doors and `internal.ts`, nothing else. Type imports count: they are how cycles begin.
const DOORS = [
  "src/(index|internal)\\.ts",
  "src/public/",
  "src/router/(embeddings/)?index\\.ts",
  "src/transport/node/(index|package-file)\\.ts",
];
const CORE = ["src/envelope", "src/policies", "src/transport"];
const CONTRACT =
  "src/protocols/(protocol|client-context|did-methods|features|candidates|front|health|host|keep-protection|traits|all|index)\\.ts";

const MAY_IMPORT = {
  "src/envelope": [],
  "src/transport": ["src/envelope"],
  "src/policies": ["src/envelope"],
  "src/security": ["src/envelope", "src/transport"],
  "src/telemetry": [...CORE, "src/protocols/(front|protocol)\\.ts"],
  "src/artifacts": ["src/envelope", "src/transport", "src/security"],
  "src/tasks": ["src/envelope", "src/policies"],
  "src/protocols": ["src/envelope", "src/transport", "src/security", "src/router/models"],
  "src/router": ["src/envelope", "src/transport", CONTRACT],
  "src/client": [
    ...CORE,
    "src/security",
    "src/telemetry",
    "src/artifacts",
    "src/tasks/index\\.ts",
    "src/router/models",
    CONTRACT,
  ],
  "src/server": [
    ...CORE,
    "src/security",
    "src/telemetry",
    "src/artifacts",
    "src/tasks",
    "src/client",
    "src/router/models",
    CONTRACT,
  ],
  "src/bridge": [
    ...CORE,
    "src/security",
    "src/telemetry",
    "src/tasks/index\\.ts",
    "src/client",
    "src/server/agent\\.ts",
    CONTRACT,
  ],
  conformance: ["src/"],
  "bench/harness": DOORS,
  "bench/micro": ["bench/", "src/protocols/[^/]+/", ...DOORS],
  "bench/routerbench": ["bench/harness", ...DOORS],
  "bench/protocols": ["bench/harness", ...DOORS],
  "apps/config": DOORS,
  "apps/dashboard": DOORS,
  "apps/mcp": DOORS,
  "apps/gateway": ["apps/(config|dashboard)/index\\.ts", ...DOORS],
  "apps/up": ["apps/config/index\\.ts", ...DOORS],
  "apps/demo": ["apps/(dashboard|gateway|up)/index\\.ts", ...DOORS],
  "apps/cli": [
    "apps/[^/]+/index\\.ts",
    "bench/(routerbench|protocols)/index\\.ts",
    "conformance/index\\.ts",
    "src/protocols/command-registry\\.ts",
    ...DOORS,
  ],
};

/** A protocol's own door for users: programs of the library, made of client and server. The registry does not see it. */
const PROTOCOL_DOOR = "^src/protocols/[^/]+/api/";

const layers = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `layer ${folder}`,
  severity: "error",
  from: { path: `^${folder}/`, pathNot: PROTOCOL_DOOR },
  to: { path: "^(src|apps|bench|conformance)/", pathNot: [folder, ...allowed].map((path) => `^${path}`) },
}));

module.exports = {
  forbidden: [
    ...layers,
    {
      name: "nothing is built on the door of a protocol",
      severity: "error",
      // What it costs is measured.
      from: { path: "^(src|apps|bench|conformance)/", pathNot: [PROTOCOL_DOOR, "^bench/micro/"] },
      to: { path: PROTOCOL_DOOR },
    },
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
      from: { path: "^src/", pathNot: "^src/protocols/([^/]+/|(command-|feature-)?registry\\.ts)" },
      to: { path: "^src/protocols/[^/]+/" },
    },
    {
      name: "the router loads no protocol",
      severity: "error",
      from: { path: "^src/router/index\\.ts" },
      to: { path: "^src/protocols/registry\\.ts", reachable: true },
    },
    {
      name: "node built-ins stay at the edges",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: "^src/(transport/node|tasks/stores|artifacts|security|router/(embeddings|evidence)|protocols/[^/]+/node)/",
      },
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
