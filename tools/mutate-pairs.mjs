// Compares the pairs of `npm test` with the full square of `npm run test:full`: both must catch the same faults. Applies one fault
// at a time to a temporary copy of the tree and runs both sets: node tools/mutate-pairs.mjs. Fails if only the full square
// catches one, or if one can no longer be applied.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const SETS = { covering: "test/gateway/pairs.test.ts", full: "test/full/pairs.test.ts" };
const COPIED = ["src", "apps", "conformance", "bench", "test", "package.json", "tsconfig.json"];
const RUN_MS = 120_000;

/** File, the text to replace (first occurrence), and its replacement. */
const FAULTS = [
  [
    "src/protocols/a2a/codec/part-1.0.ts",
    "raw: encodeBase64(part.bytes), mediaType, filename,",
    "raw: encodeBase64(part.bytes), mediaType,",
  ],
  [
    "src/protocols/a2a/codec/part-1.0.ts",
    "return { data: part.data, mediaType, filename, metadata };",
    "return { data: part.data, mediaType, filename };",
  ],
  ["src/protocols/a2a/codec/part-0.3.ts", "file: { uri: part.url, mimeType:", "file: { uri: part.url, mimetype:"],
  [
    "src/protocols/a2a/codec/part-0.3-proto.ts",
    "return { file: { fileWithUri: part.url, mimeType:",
    "return { file: { fileWithUri: part.url, mimetype:",
  ],
  ["src/protocols/a2a/codec/part-0.3-proto.ts", "if (part.metadata !== undefined) tell(", 'if (part.kind === "text") tell('],
  ["src/protocols/a2a/codec/state.ts", 'rejected: "TASK_STATE_REJECTED"', 'rejected: "TASK_STATE_FAILED"'],
  [
    "src/protocols/a2a/codec/state.ts",
    'return state === "canceling" ? "working" : state;',
    'return state === "canceled" ? "failed" : state;',
  ],
  ["src/protocols/acp/codec/envelope-header.ts", "    metadata,\n", "    metadata: undefined,\n"],
  ["src/protocols/acp/codec/event-reader.ts", "append: false, last: true", "append: true, last: true"],
  [
    "src/protocols/acp/codec/event-writer.ts",
    "const goesOn = this.#open?.id === artifact.id && append;",
    "const goesOn = this.#open?.id === artifact.id;",
  ],
  [
    "src/protocols/agora/codec/metadata.ts",
    'idempotency_key: seedText(metadata, wire, "idempotency_key"),',
    "idempotency_key: undefined,",
  ],
  ["src/protocols/agora/codec/envelope.ts", "sessionId: found.sessionId,", "sessionId: undefined,"],
  ["src/bridge/emulation.ts", "if (canStream(upstream)) return NONE;", "return NONE;"],
  ["src/bridge/emulation.ts", "return tasks ? NONE : ONLY_TASKS;", "return NONE;"],
  ["src/bridge/adopt.ts", "this.#abandonIfUnwanted();", ""],
];

const copy = mkdtempSync(join(tmpdir(), "koine-mutate-"));
for (const name of COPIED) cpSync(name, join(copy, name), { recursive: true });
symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
writeFileSync(
  join(copy, "vitest.config.ts"),
  `export default { test: { include: ${JSON.stringify(Object.values(SETS))}, testTimeout: 5_000 } };\n`,
);

/** Whether the set fails. A run that hangs has caught the fault too. */
function caught(file) {
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  return spawnSync(process.execPath, [vitest, "run", file, "--bail=1"], { cwd: copy, timeout: RUN_MS }).status !== 0;
}

let failed = 0;
for (const [name, file] of Object.entries(SETS)) if (caught(file)) throw new Error(`the ${name} pairs fail without a fault`);
for (const [path, before, after] of FAULTS) {
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  if (!source.includes(before)) throw new Error(`${path} no longer contains: ${before}`);
  writeFileSync(
    file,
    source.replace(before, () => after),
  );
  const [covering, full] = [caught(SETS.covering), caught(SETS.full)];
  writeFileSync(file, source);
  if (covering !== full) failed++;
  const shown = (yes) => (yes ? "caught" : "missed").padEnd(8);
  console.log(`${shown(covering)} ${shown(full)} ${path}: ${before.trim()} → ${after.trim()}`);
}
rmSync(copy, { recursive: true });
console.log(failed === 0 ? "Both sets catch the same faults." : `${failed} faults are caught by one set only.`);
process.exitCode = failed === 0 ? 0 : 1;
