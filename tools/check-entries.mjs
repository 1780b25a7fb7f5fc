// Prevents an entry that only loads because another was loaded before it, and heavy optional parts that load with the core.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
const entries = Object.keys(exports)
  .filter((entry) => !entry.endsWith(".json"))
  .map((entry) => entry.replace("*", "a2a").replace(/^\./, "koine"));

for (const entry of entries) {
  const script = `const m = await import(${JSON.stringify(entry)}); if (Object.keys(m).length === 0) throw new Error("exports nothing");`;
  execFileSync(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "ignore", "inherit"] });
}
const loaded = `await import("koine"); const { createRequire } = await import("node:module"); if (Object.keys(createRequire(process.cwd() + "/x.js").cache).some((file) => /tsx|esbuild|commander/.test(file))) throw new Error("the core loads what only the command line needs");`;
execFileSync(process.execPath, ["--input-type=module", "-e", loaded], { stdio: ["ignore", "ignore", "inherit"] });
console.log(`${entries.length} entries load alone: ${entries.join(", ")}`);
