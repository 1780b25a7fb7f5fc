import { relative } from "node:path";

/**
 * How people call this very program. From a clone it is not `npx koine`: that would build everything anew first, under the
 * feet of what runs from it.
 */
export function ownCommand(argv: readonly string[] = process.argv, cwd: string = process.cwd()): string {
  const script = argv[1] === undefined ? "" : relative(cwd, argv[1]);
  const isHere = script !== "" && !script.startsWith("..") && !script.includes("node_modules");
  if (!isHere) return "npx koine";
  return script.endsWith(".ts") ? `npx tsx ${script}` : `node ${script}`;
}
