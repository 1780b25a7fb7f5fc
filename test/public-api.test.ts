import { existsSync, readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { expect, it } from "vitest";

/** Each entry point of the package and the source file it is compiled from. */
function entryPoints(): readonly (readonly [name: string, file: string])[] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
    readonly exports: { readonly [path: string]: { readonly types?: string } };
  };
  return Object.entries(exports).flatMap(([path, { types }]) => {
    if (types === undefined) return [];
    const file = types.replace("./dist/", "").replace(/\.d\.ts$/, ".ts");
    const name = path.replace(/^\./, "koine");
    if (!name.endsWith("/*")) return [[name, file] as const];
    const folders = readdirSync(file.slice(0, file.indexOf("*"))).filter(
      (each) => existsSync(file.replace("*", each)) && !(path.replace("*", each) in exports),
    );
    return folders.map((each) => [name.replace("*", each), file.replace("*", each)] as const);
  });
}

function kindOf({ flags }: ts.Symbol): string {
  if (flags & ts.SymbolFlags.Class) return "class";
  if (flags & ts.SymbolFlags.Function) return "function";
  if (flags & ts.SymbolFlags.Variable) return "const";
  if (flags & ts.SymbolFlags.Interface) return "interface";
  if (flags & ts.SymbolFlags.TypeAlias) return "type";
  return "other";
}

/** Every exported name of each entry point with its kind, sorted. */
function publicApi(): { readonly [entry: string]: { readonly [name: string]: string } } {
  const entries = entryPoints();
  const program = ts.createProgram(
    entries.map(([, file]) => file),
    { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [], noLib: true },
  );
  const checker = program.getTypeChecker();
  const namesIn = (file: string): { readonly [name: string]: string } => {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${file} is not a module`);
    const symbols = checker.getExportsOfModule(module).toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return Object.fromEntries(
      symbols.map((symbol) => [
        symbol.name,
        kindOf(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol),
      ]),
    );
  };
  return Object.fromEntries(entries.map(([name, file]) => [name, namesIn(file)]));
}

// A change of this list is a change of the public API. After a deliberate one: npx vitest run test/public-api.test.ts -u
it("exports exactly the listed names from each entry point", { timeout: 120_000 }, async () => {
  const api = publicApi();
  expect(Object.keys(api)).toContain("koine/protocols/a2a");
  expect(Object.values(api).flatMap((names) => Object.values(names))).not.toContain("other");
  await expect(`${JSON.stringify(api, undefined, 2)}\n`).toMatchFileSnapshot("public-api.json");
});
