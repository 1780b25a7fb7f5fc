import { relative } from "node:path";

/** The command that runs this program. From a clone it is not `npx koine`, which would rebuild dist while it is in use. */
export function ownCommand(argv: readonly string[] = process.argv, cwd: string = process.cwd()): string {
  const script = argv[1] === undefined ? "" : relative(cwd, argv[1]);
  const isHere = script !== "" && !script.startsWith("..") && !script.includes("node_modules");
  if (!isHere) return "npx koine";
  return script.endsWith(".ts") ? `npx tsx ${script}` : `node ${script}`;
}
