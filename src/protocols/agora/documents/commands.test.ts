import { describe, expect, it } from "vitest";
import { taskLimits } from "../../../tasks/limits.js";
import { MemoryRecords } from "../../../tasks/stores/memory-records.js";
import type { CommandTools } from "../../protocol.js";
import { commands } from "./commands.js";

const SAMPLE = "---\nname: Echo\ndescription: ECHO protocol\nmultiround: false\n---\nECHO the JSON body back.\n";
const HASH = "L9xl1shodRYEKdIIT3ydYkazG8M=";

const FILES: { readonly [path: string]: Uint8Array } = {
  "echo.txt": new TextEncoder().encode(SAMPLE),
  "marked.txt": new TextEncoder().encode("\uFEFFwith a mark"),
  "broken.txt": new Uint8Array([0x61, 0xff]),
  "empty.txt": new TextEncoder().encode("\n"),
  "long.txt": new Uint8Array(64 * 1024 + 1).fill(0x61),
};

function tools(): CommandTools {
  return {
    records: new MemoryRecords(taskLimits(), () => 0),
    hasStore: true,
    options: {},
    untilStopped: async () => undefined,
    readFile: async (path) => FILES[path] ?? Promise.reject(new Error(`no ${path}`)),
  };
}

const run = async (words: string, given: readonly string[], to: CommandTools) => {
  const command = commands.find((each) => each.words === words);
  if (command === undefined) throw new Error(`no command ${words}`);
  const printed = await command.run(given, to);
  if (printed === undefined) throw new Error(`${words} printed nothing`);
  return printed;
};

describe("protocol add, list, show", () => {
  it("store a document byte for byte", async () => {
    const to = tools();
    expect((await run("protocol add", ["echo.txt", "marked.txt"], to)).text).toBe(
      `${HASH}  Echo\nuBS05c+CyF2vVx8J9tjnHJk9hYE=  Unnamed protocol`,
    );
    expect((await run("protocol show", [HASH], to)).text).toBe(SAMPLE);
    const { text, document } = await run("protocol list", [], to);
    expect(text).toContain(`${HASH}  Echo: ECHO protocol  (0 uses, suitability unknown)`);
    expect(document).toMatchObject([{ hash: HASH, name: "Echo", multiround: false, uses: 0 }, { name: "Unnamed protocol" }]);
  });

  it("report an empty library", async () => {
    expect((await run("protocol list", [], tools())).text).toBe("");
    await expect(run("protocol show", [HASH], tools())).rejects.toMatchObject({ code: "not_found" });
  });

  it("reject files that are not UTF-8, empty, or too long, and store nothing", async () => {
    const to = tools();
    await expect(run("protocol add", ["echo.txt", "broken.txt"], to)).rejects.toMatchObject({ code: "invalid_message" });
    expect((await run("protocol list", [], to)).document).toEqual([]);
    await expect(run("protocol add", ["empty.txt"], tools())).rejects.toMatchObject({ code: "invalid_message" });
    await expect(run("protocol add", ["long.txt"], tools())).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("protocol hash", () => {
  it("needs no store, and prints the hash alone for one file", async () => {
    const to: CommandTools = {
      get records(): never {
        throw new Error("no store");
      },
      hasStore: false,
      options: {},
      untilStopped: async () => undefined,
      readFile: tools().readFile,
    };
    expect((await run("protocol hash", ["echo.txt"], to)).text).toBe(HASH);
    const { text, document } = await run("protocol hash", ["echo.txt", "echo.txt"], to);
    expect(text).toBe(`${HASH}  echo.txt\n${HASH}  echo.txt`);
    expect(document).toMatchObject([{ file: "echo.txt", sha1: HASH }, { file: "echo.txt" }]);
    expect(commands.filter(({ store }) => store === "none").map(({ words }) => words)).toEqual(["protocol hash"]);
  });
});
