import { existsSync } from "node:fs";

/** Folder of the package: the nearest one above this module with a `package.json`. */
export const PACKAGE_ROOT = findRoot(new URL("./", import.meta.url));

const IS_BUILT = import.meta.url.startsWith(new URL("dist/", PACKAGE_ROOT).href);

/** What programs of the package end with: TypeScript in a checkout, JavaScript when built. */
export const PROGRAM_EXTENSION = IS_BUILT ? ".js" : ".ts";

/**
 * A file that the package ships, by its path in the repository. The build bundles modules, so a file next to a source is not next to
 * the built module.
 */
export function packageFile(path: string): URL {
  return new URL(IS_BUILT ? `dist/${path}` : path, PACKAGE_ROOT);
}

function findRoot(folder: URL): URL {
  if (existsSync(new URL("package.json", folder))) return folder;
  const parent = new URL("../", folder);
  if (parent.href === folder.href) throw new Error(`No package.json above ${import.meta.url}: the package is incomplete`);
  return findRoot(parent);
}
