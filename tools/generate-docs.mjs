// Writes the parts of the documentation that follow from the code: tables, each between two markers, and whole files:
// the prompts, the schema and the API reference. With --check nothing is written and a difference fails.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fieldTable } from "./field-table.mjs";
import { apiFiles } from "./generate-api.mjs";
import { promptFiles } from "./generate-prompts.mjs";
import { peerTable } from "./peer-table.mjs";

const check = process.argv.includes("--check");
const { ERRORS } = await import("../src/index.ts");
const { protocols } = await import("../src/public/protocols.ts");
const { comparison } = await import("../src/protocols/sage/comparison.ts");
const { errorRows } = await import("../src/protocols/a2a/error-tables.ts");
const { CAPABILITIES, FACETS } = await import("../src/protocols/features.ts");
const { defaultCandidates } = await import("../src/protocols/candidates.ts");
const { EVIDENCE_SPANS } = await import("../src/router/lint/decision.ts");
const { RATIONALE_CHARACTERS } = await import("../src/router/lint/rationale.ts");
const writing = await import("../src/router/model/prompt.ts");
const { parseScenarioText, route } = await import("../src/router/index.ts");
const { decisionTable } = await import("../apps/cli/route-print.ts");
const { configJsonSchema, configReference } = await import("../apps/gateway/index.ts");
const { teamJsonSchema } = await import("../bench/protocols/docqa/plan/manifest.ts");
const { deploymentRows } = await import("../src/internal.ts");
const { NEEDS, RECOMMENDED_LIMITS } = await import("../apps/config/index.ts");
const { DEFAULT_LIMITS } = await import("../src/internal.ts");
const { DEFAULT_TASK_LIMITS } = await import("../src/public/stores.ts");

const tableOf = (head, rows) =>
  [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");

const protocolOf = (id) => protocols.find((each) => each.id === id);
const latency = JSON.parse(readFileSync("docs/measured/sage-latency.json", "utf8"));
/** Where and how the latencies of the comparison were measured. */
const latencyNote = ({ a2a, first, commit, date, command, machine: { cores, cpu, node, loadBefore } }) =>
  `Latencies are medians of ${a2a.messages} messages of 300 bytes (${first.embedded.messages} first ones) on one machine, both ends in one process: ${cores} cores (${cpu}), Node ${node}, ` +
  `load ${loadBefore.toFixed(1)} before the run, ${date}, commit ${commit}, \`${command}\`. “Stated” is what the SAGE design says.`;

/** A capability in a protocol's row, those it is made for in bold. */
const supportOf = ({ support, orientation }, id) =>
  support[id] === undefined ? "–" : orientation.includes(id) ? `**${support[id]}**` : support[id];
const candidates = defaultCandidates();

/** What `koine route` prints: it changes with every sentence the router learns. */
async function routed(argument, scenarios) {
  const { decisions } = await route(scenarios);
  return `\`\`\`\n$ koine route ${argument}\n${decisionTable(decisions)}\`\`\``;
}
const EXAMPLE = "examples/route/scenario.yaml";
const SAID = "Each partner must prove who it is; nobody in between may read along.";
const said = { id: "text", description: "", modules: [{ id: "text-M1", passages: [{ kind: "need", text: SAID }] }] };

/** One row for each protocol, and one for each version and binding that supports less. */
const traitRows = protocols.flatMap(({ id, versions, traits, versionTraits = {}, bindingTraits = {} }) => [
  { id, versions: versions.filter((version) => versionTraits[version] === undefined), traits },
  ...Object.entries(bindingTraits).map(([binding, own]) => ({
    id,
    versions: [`over ${binding}`],
    traits: { ...traits, ...own },
  })),
  ...Object.entries(versionTraits).map(([version, own]) => ({ id, versions: [version], traits: { ...traits, ...own } })),
]);

const blocks = {
  "docs/peers.md": { peers: peerTable(tableOf) },
  "README.md": {
    route: await routed(EXAMPLE, (await parseScenarioText(readFileSync(EXAMPLE, "utf8"), EXAMPLE)).scenarios),
  },
  "docs/router.md": {
    route: await routed(`--text "${SAID}"`, said),
    capabilities: tableOf(
      ["facet", "capability", "hard", ...candidates.map(({ name }) => name), "a module needs it that says"],
      CAPABILITIES.map(({ id, facet, hard, means }) => [
        FACETS[facet],
        `\`${id}\``,
        hard === true ? "hard" : "",
        ...candidates.map((row) => supportOf(row, id)),
        means,
      ]),
    ),
    rows: tableOf(
      ["protocol", "made for", "less suited for", "comes with it"],
      candidates.map(({ name, madeFor, lessSuitedFor, inherent }) => [
        name,
        madeFor,
        lessSuitedFor,
        inherent.map((id) => `\`${id}\``).join(", "),
      ]),
    ),
  },
  "docs/errors.md": {
    codes: tableOf(
      ["code", "face", "another try"],
      Object.entries(ERRORS).map(([code, { face, again }]) => [`\`${code}\``, `\`${face}\``, again]),
    ),
    a2a: tableOf(
      ["code", "reason", "JSON-RPC", "gRPC 1.0.1", "gRPC 1.0.0", "HTTP 1.0.1", "HTTP 1.0.0", "problem type"],
      errorRows().map(({ code, reason, rpc, grpc, http, slug }) => [
        `\`${code}\``,
        `\`${reason}\``,
        rpc,
        grpc["1.0.1"],
        grpc["1.0.0"],
        http["1.0.1"],
        http["1.0.0"],
        slug === undefined ? "" : `\`${slug}\``,
      ]),
    ),
  },
  "docs/gateway.md": { config: configReference() },
  "docs/production.md": {
    deployments: tableOf(
      ["protocol", "deployment", "transport", "callers", "messages", "signed cards", "why"],
      deploymentRows(protocols).map(({ protocol, name, transport, callers, messages, signedCards, because }) => [
        protocol,
        name,
        transport,
        callers,
        messages,
        signedCards ? "yes" : "no",
        because,
      ]),
    ),
    needs: tableOf(
      ["`--profile recommended`", ""],
      Object.values(NEEDS).map(({ level, means }) => [level, means]),
    ),
    limits: tableOf(
      ["limit", "default", "recommended"],
      Object.entries({ ...RECOMMENDED_LIMITS.limits, ...RECOMMENDED_LIMITS.taskLimits }).map(([name, value]) => [
        `\`${name}\``,
        (DEFAULT_LIMITS[name] ?? DEFAULT_TASK_LIMITS[name]).toLocaleString("en"),
        value.toLocaleString("en"),
      ]),
    ),
  },
  "docs/sage.md": {
    comparison: `${tableOf(["", "A2A", "SAGE"], comparison([protocolOf("a2a"), protocolOf("sage")], latency))}\n\n${latencyNote(latency)}`,
  },
  "docs/protocols.md": {
    traits: tableOf(
      ["protocol", "versions", "streaming", "tasks", "resume", "idempotent send", "input turns", "signed", "sealed", "binary"],
      traitRows.map(({ id, versions, traits }) => [
        id,
        versions.join(", "),
        ...["streaming", "tasks", "resume", "idempotentSend", "inputTurns", "signed", "sealed", "binary"].map((name) =>
          traits[name] === true ? "yes" : traits[name] === false ? "no" : traits[name],
        ),
      ]),
    ),
    fields: await fieldTable(tableOf),
    losses: tableOf(
      ["protocol", "version", "what", "why"],
      protocols.flatMap(({ id, losses }) => losses.map(({ version, path, reason }) => [id, version, `\`${path}\``, reason])),
    ),
  },
};

const limits = { spans: EVIDENCE_SPANS, characters: RATIONALE_CHARACTERS };
const wholes = {
  ...promptFiles({ CAPABILITIES, FACETS, rows: candidates, limits, writing }),
  ...apiFiles(),
  "docs/docqa-team.schema.json": `${JSON.stringify(teamJsonSchema(), undefined, 2)}\n`,
  "docs/koine.schema.json": `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`,
};

let stale = false;
function settle(file, before, after) {
  if (after === before) return;
  stale = true;
  if (check) return console.error(`${file} is out of date: run npm run docs`);
  if (after === undefined) return rmSync(file);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, after);
}
const API = "docs/api";
const kept = existsSync(API) ? readdirSync(API).map((name) => `${API}/${name}`) : [];
for (const file of kept) if (!(file in wholes)) settle(file, readFileSync(file, "utf8"), undefined);
for (const [file, text] of Object.entries(wholes)) settle(file, existsSync(file) ? readFileSync(file, "utf8") : undefined, text);
for (const [file, tables] of Object.entries(blocks)) {
  const before = readFileSync(file, "utf8");
  let after = before;
  for (const [name, table] of Object.entries(tables)) {
    const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marked.test(after)) throw new Error(`${file} has no markers for ${name}`);
    after = after.replace(marked, `$1${table}\n$2`);
  }
  settle(file, before, after);
}
if (check && stale) process.exit(1);
console.log(check ? "generated documents are up to date" : "generated documents written");
