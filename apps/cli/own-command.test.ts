import { describe, expect, it } from "vitest";
import { ownCommand } from "./own-command.js";

describe("ownCommand()", () => {
  it.each([
    [["node", "/home/ann/koine/dist/cli/main.js"], "/home/ann/koine", "node dist/cli/main.js"],
    [["node", "/home/ann/koine/cli/main.ts"], "/home/ann/koine", "npx tsx cli/main.ts"],
    [["node", "/home/ann/app/node_modules/.bin/koine"], "/home/ann/app", "npx koine"],
    [["node", "/usr/lib/node_modules/koine/dist/cli/main.js"], "/home/ann", "npx koine"],
    [["node"], "/home/ann", "npx koine"],
  ])("%j in %s is %s", (argv, cwd, command) => {
    expect(ownCommand(argv, cwd)).toBe(command);
  });
});
