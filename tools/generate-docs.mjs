// Writes the tables that people would otherwise copy by hand and forget to change. Each sits between two markers; with
// --check nothing is written and a difference fails.
import { readFileSync, writeFileSync } from "node:fs";

const check = process.argv.includes("--check");
const { ERRORS, protocols } = await import("../dist/src/index.js");
const { errorRows } = await import("../dist/src/protocols/a2a/error-tables.js");

const tableOf = (head, rows) =>
  [`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows.map((row) => `| ${row.join(" | ")} |`)].join("\n");

const blocks = {
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
  "docs/protocols.md": {
    traits: tableOf(
      ["protocol", "versions", "streaming", "tasks", "resume", "idempotent send", "input turns", "signed", "sealed", "binary"],
      protocols.map(({ id, versions, traits }) => [
        id,
        versions.join(", "),
        ...["streaming", "tasks", "resume", "idempotentSend", "inputTurns", "signed", "sealed", "binary"].map((name) =>
          traits[name] === true ? "yes" : traits[name] === false ? "no" : traits[name],
        ),
      ]),
    ),
    losses: tableOf(
      ["protocol", "version", "what", "why"],
      protocols.flatMap(({ id, losses }) => losses.map(({ version, path, reason }) => [id, version, `\`${path}\``, reason])),
    ),
  },
};

let stale = false;
for (const [file, tables] of Object.entries(blocks)) {
  const before = readFileSync(file, "utf8");
  let after = before;
  for (const [name, table] of Object.entries(tables)) {
    const marked = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
    if (!marked.test(after)) throw new Error(`${file} has no markers for ${name}`);
    after = after.replace(marked, `$1${table}\n$2`);
  }
  if (after === before) continue;
  stale = true;
  if (check) console.error(`${file} is out of date: run npm run docs`);
  else writeFileSync(file, after);
}
if (check && stale) process.exit(1);
console.log(check ? "generated tables are up to date" : "generated tables written");
