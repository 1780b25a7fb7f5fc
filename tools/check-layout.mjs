// Prevents files and functions that grew past the point where a reader can hold them, protocol folders that lack the files
// every other has, and drawers such as utils.ts. Budgets: source 300 lines, test 500.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const ROOTS = ["src", "apps", "conformance", "bench", "test", "tools", "training"];
const EVERY_PROTOCOL_HAS = [
  "README.md",
  "index.ts",
  "wire.ts",
  "codec.ts",
  "errors.ts",
  "client.ts",
  "server.ts",
  "discover.ts",
  "fixtures",
];
const DRAWERS = /^(utils?|helpers?|common|misc|types|constants)\.ts$/;

const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === "node_modules" || entry.name === "fixtures") return [];
    return entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)];
  });

const problems = [];
for (const file of ROOTS.flatMap(files).filter((each) => each.endsWith(".ts"))) {
  const lines = readFileSync(file, "utf8").split("\n").length - 1;
  // An index is a list of names, not something to be understood.
  const isLong = /\.test\.ts$/.test(file) || file.startsWith("test") || basename(file) === "index.ts";
  const budget = isLong ? 500 : 300;
  if (lines > budget) problems.push(`${file}: ${lines} lines, at most ${budget}`);
  if (DRAWERS.test(basename(file))) problems.push(`${file}: a drawer; name it for what it holds`);
  if (!/^[a-z0-9][a-z0-9.-]*\.ts$/.test(basename(file))) problems.push(`${file}: file names are kebab-case`);
}
// A folder that is not registered yet is not a whole protocol.
const registered = readFileSync("src/protocols/registry.ts", "utf8").matchAll(/from "\.\/([^/]+)\/index\.js"/g);
for (const [, name] of registered) {
  for (const part of EVERY_PROTOCOL_HAS)
    if (!existsSync(join("src/protocols", name, part))) problems.push(`src/protocols/${name} has no ${part}`);
}

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("every file is within its budget, and every protocol folder has the same files");
