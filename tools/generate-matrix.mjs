// Runs every protocol as listener of every other over loopback sockets and writes the results, between two markers, into
// docs/compatibility.md. Fails if something was lost and not reported. With --check nothing is written and a
// difference fails. Run it with `node --import tsx`.
import { readFileSync, writeFileSync } from "node:fs";
import { formatMatrix, runMatrix } from "../test/gateway/pairs/matrix.ts";

const FILE = "docs/compatibility.md";
const MARKED = /(<!-- matrix -->\n)[\s\S]*?(<!-- \/matrix -->)/;

const before = readFileSync(FILE, "utf8");
if (!MARKED.test(before)) throw new Error(`${FILE} has no markers for the matrix`);
const matrix = formatMatrix(await runMatrix());
const after = before.replace(MARKED, (_, head, tail) => `${head}${matrix}\n${tail}`);
if (after === before) console.log("the matrix is up to date");
else if (process.argv.includes("--check")) {
  console.error(`${FILE} is out of date: run node --import tsx tools/generate-matrix.mjs`);
  process.exitCode = 1;
} else {
  writeFileSync(FILE, after);
  console.log("the matrix was written");
}
