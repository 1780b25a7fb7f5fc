import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";

/**
 * Writes the bench's own sources as plain JavaScript to `dist/bench`, beside the built package that they import. A loader
 * that compiles while running would wrap every closure and so slow the arms.
 */
export function emitBench(root: string): void {
  for (const file of sourcesUnder(join(root, "bench"))) {
    const target = join(root, "dist", relative(root, file)).replace(/\.ts$/, ".js");
    const { outputText } = ts.transpileModule(readFileSync(file, "utf8"), {
      fileName: file,
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
}

/** Builds the package where it is missing or older than a source file: only what is built is measured. */
export function buildIfStale(root: string): void {
  if (!isStale(root)) return;
  process.stderr.write("dist/ is missing or older than src/: building\n");
  execFileSync(process.execPath, [join(root, "tools", "build.mjs")], { cwd: root, stdio: ["ignore", 2, 2] });
}

function isStale(root: string): boolean {
  const built = join(root, "dist", "src", "index.js");
  if (!existsSync(built)) return true;
  const builtAt = statSync(built).mtimeMs;
  return sourcesUnder(join(root, "src")).some((file) => statSync(file).mtimeMs > builtAt);
}

function sourcesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.endsWith(".test-d.ts"))
    .map((path) => join(folder, path));
}
