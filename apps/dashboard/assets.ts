import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentError } from "../../src/index.js";
import { etagOf } from "../../src/internal.js";
import { packageFile } from "../../src/transport/node/package-file.js";

/** One file of the page. */
export interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

const TYPES: { readonly [extension: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

const PAGE_FOLDER = fileURLToPath(packageFile("apps/dashboard/page/"));

/**
 * All files of the page by name, such as `main.js`. The package contains them compiled; when run from source, TypeScript
 * files are compiled on reading.
 */
export async function readAssets(folder: string = PAGE_FOLDER): Promise<ReadonlyMap<string, Asset>> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith(".d.ts") && !name.endsWith(".test.ts"));
  const sources = names.filter((name) => name.endsWith(".ts"));
  const compile = sources.length === 0 ? undefined : await compiler();
  const assets = await Promise.all(
    names.map(async (name): Promise<readonly [string, Asset][]> => {
      const source = await readFile(`${folder}/${name}`, "utf8");
      if (compile !== undefined && name.endsWith(".ts"))
        return [[name.replace(/\.ts$/, ".js"), assetOf(compile(source, name), ".js")]];
      return extname(name) in TYPES ? [[name, assetOf(source, extname(name))]] : [];
    }),
  );
  return new Map(assets.flat());
}

function assetOf(text: string, extension: string): Asset {
  return { type: TYPES[extension] ?? "application/octet-stream", text, etag: etagOf(text) };
}

/** Loaded only when needed: the package does not depend on a compiler. */
async function compiler(): Promise<(source: string, name: string) => string> {
  try {
    const { default: ts } = await import("typescript");
    const compilerOptions = {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    };
    return (source, fileName) => ts.transpileModule(source, { compilerOptions, fileName }).outputText;
  } catch (cause) {
    throw new AgentError("internal", "The page is not built and TypeScript is not installed: run npm run build", { cause });
  }
}
