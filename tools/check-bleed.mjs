// Prevents the core learning protocol names: imports do not show a `switch` on a name, so the words themselves are sought.
// Only a protocol's own folder may name it, the registry, and the two lists beside it: who is a candidate by default, and
// who is described before it is built.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FUTURE = ["acp", "agora", "anp", "sage"];
const LISTS = ["registry.ts", "command-registry.ts", "feature-registry.ts", "candidates.ts", "described.ts"].map((file) =>
  join("src", "protocols", file),
);
const files = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
  );
const present = readdirSync("src/protocols", { withFileTypes: true }).filter((entry) => entry.isDirectory());
const ids = [...new Set([...present.map(({ name }) => name), ...FUTURE])];
const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

const leaks = files("src")
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && !LISTS.includes(file))
  .flatMap((file) => {
    const text = withoutComments(readFileSync(file, "utf8"));
    return ids
      .filter((id) => !file.startsWith(join("src", "protocols", id)) && new RegExp(`["'\`/.]${id}["'\`/@]`).test(text))
      .map((id) => `${file} names ${id}`);
  });

if (leaks.length > 0) {
  console.error(leaks.join("\n"));
  process.exit(1);
}
console.log(`no protocol is named outside its folder (${ids.join(", ")})`);
