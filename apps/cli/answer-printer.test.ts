import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { AgentError, type Envelope, type EventOf, type Part, type Status, type Task } from "../../src/index.js";
import { AnswerPrinter, type PrinterOptions } from "./answer-printer.js";
import { createOutput } from "./output.js";

function printer(more: Pick<PrinterOptions, "save" | "peer"> = {}) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const output = createOutput("text", { stdout, stderr });
  const progress = { show: () => undefined, stop: () => undefined };
  const print = new AnswerPrinter({ output, url: "http://a.example", progress, ...more });
  const all = (stream: PassThrough): string => String(stream.read(stream.readableLength) ?? "");
  const written = () => ({ stdout: all(stdout), stderr: all(stderr) });
  return { print, written };
}

const messageOf = (text: string): Envelope => ({
  id: "m",
  ts: 1,
  src: "a",
  dst: "b",
  intent: "",
  role: "agent",
  content: [{ kind: "text", text }],
  context: {},
  meta: {},
});
const chunk = (id: string, text: string, append: boolean): EventOf<"send"> => ({
  kind: "artifact",
  taskId: "t",
  contextId: "c",
  artifact: { id, parts: [{ kind: "text", text }] },
  append,
  last: false,
});
const status = (value: Status): EventOf<"send"> => ({ kind: "status", taskId: "t", contextId: "c", status: value });
const task = (state: Status, artifacts: Task["artifacts"]): EventOf<"send"> => ({
  kind: "task",
  task: { id: "t", contextId: "c", status: state, artifacts, history: [] },
});
const text = (value: string): Part => ({ kind: "text", text: value });

describe("AnswerPrinter", () => {
  test("a file without a name takes that of its artifact", async () => {
    const { print, written } = printer();
    const raw: Part = { kind: "raw", bytes: new Uint8Array(4), mediaType: "image/png" };
    await print.answer(
      task({ state: "completed", at: 1 }, [{ id: "a", name: "dot.png", parts: [raw, { ...raw, name: "own.png" }] }]),
    );
    expect(written().stderr.match(/^\w+\.png, image\/png, 4 B/gm)).toEqual([
      "dot.png, image/png, 4 B",
      "own.png, image/png, 4 B",
    ]);
  });

  test("--save prints text that was moved, saves other addresses piece by piece, and prints those that fail", async () => {
    const folder = await mkdtemp(join(tmpdir(), "koine-printer-"));
    const { print, written } = printer({
      save: folder,
      peer: {
        fetch: async () => text("a text that was too long"),
        async *read({ name, url }) {
          yield Buffer.from("piece one, ");
          if (name === "gone.txt") throw new AgentError("expired", "the link has expired");
          yield Buffer.from(url);
        },
      },
    });
    const moved = { "urn:koine:artifact:1": { kind: "text", bytes: 24, sha256: "0".repeat(64) } };
    const content: readonly Part[] = [
      { kind: "url", url: "https://files.example/1", name: "moved.txt", metadata: moved },
      { kind: "url", url: "https://files.example/2", name: "gone.txt" },
      { kind: "url", url: "https://files.example/3/unnamed.png?x=1" },
    ];
    await print.answer({ kind: "message", message: { ...messageOf(""), content } });
    const saved = join(folder, "unnamed.png");
    expect(written()).toEqual({
      stdout: "a text that was too long\nhttps://files.example/2\n",
      stderr: `gone.txt cannot be fetched: the link has expired\nsaved ${saved}\n`,
    });
    expect(await readdir(folder)).toEqual(["unnamed.png"]);
    expect(await readFile(saved, "utf8")).toBe("piece one, https://files.example/3/unnamed.png?x=1");
    await rm(folder, { recursive: true });
  });

  test("a task repeated at the end of its stream is not printed twice", async () => {
    const { print, written } = printer();
    await print.event(task({ state: "working", at: 1 }, []));
    await print.event(chunk("a", "one ", false));
    await print.event(chunk("a", "two", true));
    await print.event(task({ state: "completed", at: 2 }, [{ id: "a", parts: [text("one "), text("two"), text(" three")] }]));
    await print.end();
    expect(written()).toEqual({ stdout: "one two three\n", stderr: "" });
  });

  test("another artifact, and a replaced one, begin on a new line", async () => {
    const { print, written } = printer();
    await print.event(chunk("a", "one", false));
    await print.event(chunk("b", "two", false));
    await print.event(chunk("b", "three", false));
    await print.event(status({ state: "completed", at: 2, message: messageOf("that was all") }));
    expect(written()).toEqual({ stdout: "one\ntwo\nthree\n", stderr: "completed: that was all\n" });
  });

  test("the last message of a task without artifacts is its answer", async () => {
    const { print, written } = printer();
    await print.answer(task({ state: "completed", at: 2, message: messageOf("done") }, []));
    expect(written()).toEqual({ stdout: "done\n", stderr: "" });
  });

  test("artifacts of a failed task go to stdout, the reason to stderr", async () => {
    const { print, written } = printer();
    const failed: Status = {
      state: "failed",
      at: 2,
      message: messageOf("out of paper"),
      error: { code: "internal", message: "out of paper" },
    };
    await print.answer(task(failed, [{ id: "a", parts: [text("page 1")] }]));
    expect(written()).toEqual({ stdout: "page 1\n", stderr: "The task failed: out of paper (t)\n" });
  });

  test("data and addresses have their own lines; bytes are only described", async () => {
    const { print, written } = printer();
    const content: readonly Part[] = [
      text("see"),
      { kind: "data", data: { n: 1 } },
      { kind: "url", url: "https://files.example/f" },
      { kind: "raw", bytes: new Uint8Array(1_500), name: "a\u001b[2J.png", mediaType: "image/png" },
    ];
    await print.answer({ kind: "message", message: { ...messageOf(""), content } });
    expect(written()).toEqual({
      stdout: 'see\n{"n":1}\nhttps://files.example/f\n',
      stderr: "a�[2J.png, image/png, 1.5 kB: not shown. --save DIR writes it into a folder.\n",
    });
  });
});
