import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const FOLDER = import.meta.dirname;

/** Every file that is loaded with this one: static imports but those of types only. */
function loadedWith(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, path = ""] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from "(\.[^"]+)\.js";/gm))
    loadedWith(join(dirname(file), `${path}.ts`), loaded);
  return loaded;
}

test("the declarations of the commands load nothing but the command line and the list of protocols with commands", () => {
  const files = [...loadedWith(join(FOLDER, "main.ts"))].map((file) => relative(FOLDER, file));
  expect(files).toContain("commands/send.ts");
  expect(files).not.toContain("send.ts");
  const outside = files.filter((file) => file.startsWith(".."));
  expect(outside.filter((file) => !/protocols[\\/][^\\/]+[\\/]commands\.ts$/.test(file)).sort()).toEqual([
    join("..", "..", "src", "protocols", "command-registry.ts"),
    join("..", "..", "src", "transport", "node", "package-file.ts"),
  ]);
});
