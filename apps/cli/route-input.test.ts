import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { featureRows } from "../../src/router/index.js";
import { createOutput } from "./output.js";
import { type InputOptions, readInput } from "./route-input.js";

const GOOD = '{"scenario":"a","modules":[{"id":"m","text":"Says hello."}]}';
const BAD = '{"scenario":"b","modules":[{"id":"m","txt":"Says hello."}]}';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-route-input-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(files: readonly string[], options: InputOptions = {}, stdin = "") {
  const stderr = new PassThrough();
  const output = createOutput("text", { stdout: new PassThrough(), stderr });
  const scenarios = await readInput(files, options, { rows: featureRows(), stdin: PassThrough.from([stdin]), output });
  return { ids: scenarios.map(({ id }) => id), scenarios, printed: String(stderr.read(stderr.readableLength) ?? "") };
}

async function fileOf(content: string | Uint8Array): Promise<string> {
  const path = join(folder, "file.txt");
  await writeFile(path, content);
  return path;
}

describe("readInput()", () => {
  it("reads several files and stdin, in the order given", async () => {
    const path = await fileOf(GOOD);
    expect((await read(["-", path], {}, GOOD.replace('"a"', '"from stdin"'))).ids).toEqual(["from stdin", "a"]);
  });

  it("makes one module of a text and of capabilities", async () => {
    expect((await read([], { text: "Says hello.", requires: "Streaming,non-repudiation" })).scenarios).toEqual([
      {
        id: "text",
        description: "",
        modules: [
          {
            id: "text-M1",
            passages: [{ kind: "need", text: "Says hello." }],
            requires: ["streaming", "non-repudiation"],
          },
        ],
      },
    ]);
  });

  it("fails for a malformed scenario, or skips and reports it", async () => {
    const path = await fileOf(`[${BAD},${GOOD},${BAD}]`);
    const where = "line 1: [0].modules[0].txt is not known; did you mean text? (scenario b)";
    await expect(read([path])).rejects.toMatchObject({ exit: 1, message: `${path}: ${where}; and 1 more` });
    const { ids, printed } = await read([path], { skipMalformed: true });
    expect(ids).toEqual(["a"]);
    expect(printed.split("\n")).toEqual([`left out: ${path}: ${where}`, `left out: ${path}: ${where.replace("[0]", "[2]")}`, ""]);
  });

  it("fails if nothing is left", async () => {
    await expect(read(["-"], { skipMalformed: true }, BAD)).rejects.toMatchObject({
      exit: 1,
      message: "no scenario is left to route",
    });
    await expect(read(["-"], {}, "[]")).rejects.toMatchObject({ exit: 1, message: "no scenario is left to route" });
  });

  it.each([
    ["nothing", "", "the file is empty"],
    ["lists in lists", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "nests deeper than 32 levels"],
    ["a key twice", "scenario: a\nscenario: b\n", "line 2: map keys must be unique"],
    ["no scenario", "7", "it holds no scenario: neither an object nor a list of them"],
  ])("reports a file with %s", async (_name, content, pattern) => {
    const path = await fileOf(content);
    await expect(read([path])).rejects.toMatchObject({ exit: 1, message: `${path}: ${pattern}`, hint: undefined });
  });

  it("refuses input that is not UTF-8 or too large", async () => {
    const path = await fileOf(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d));
    await expect(read([path])).rejects.toMatchObject({ exit: 1, message: `${path} is not UTF-8 text` });
    await fileOf(new Uint8Array(16 * 1024 * 1024 + 1).fill(0x20));
    await expect(read([path])).rejects.toMatchObject({ exit: 1, message: `${path} is too large: it may have 16 MiB` });
  });

  it.each([
    ["no file", [], {}, "there is nothing to route"],
    ["a text beside a file", ["x"], { text: "y" }, "--text and --requires describe one module; a file has its own"],
    ["an empty text", [], { text: " " }, "--text is empty"],
    ["no such capability", [], { requires: "luck" }, '--requires: "luck" is no capability'],
    ["stdin twice", ["-", "-"], {}, "stdin can be read only once"],
    ["no such file", ["/nowhere/at-all"], {}, "the file /nowhere/at-all cannot be read (ENOENT)"],
    ["a folder", ["/"], {}, "/ is a folder"],
  ])("refuses %s as a usage error", async (_name, files, options, message) => {
    await expect(read(files, options)).rejects.toMatchObject({ exit: 2, message });
  });
});
