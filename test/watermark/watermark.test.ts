import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exited } from "../child-process.js";
import type { Form } from "../helpers/watermark.js";
import { describeWays, newMark, sayThrough, watermarkFolder } from "./ways.js";

const folder = watermarkFolder();

/** Holds the bytes it is given, in buffers outside the heap, and knows no other form of them. */
const HOLDER = "const held = []; process.stdin.on('data', (chunk) => { held.push(chunk); process.stdout.write('held'); })";

describe("the search", () => {
  const mark = newMark();
  const plain = Buffer.from(mark.text);
  const around = (before: number): Buffer => Buffer.concat([Buffer.alloc(before, "x"), plain, Buffer.from("yyy")]);
  const FORMS: readonly (readonly [form: Form, held: Buffer])[] = [
    ["utf-8", plain],
    ["utf-16", Buffer.from(mark.text, "utf16le")],
    ...[0, 1, 2].map((before) => ["base64", Buffer.from(around(before).toString("base64"))] as const),
    ["base64", Buffer.from(around(1).toString("base64url"))],
    ["hex", Buffer.from(plain.toString("hex"))],
    ["hex", Buffer.from(plain.toString("hex").toUpperCase())],
  ];

  test.each(FORMS)("finds a text in a buffer of another process as %s", async (form, held) => {
    const holder = spawn(process.execPath, ["-e", HOLDER], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      holder.stdin.write(held);
      await once(holder.stdout, "data");
      const { forms } = await mark.inMemory(holder.pid ?? 0);
      expect([...forms]).toEqual([form]);
    } finally {
      holder.kill("SIGKILL");
      await exited(holder);
    }
  });

  test("misses none that lies across two windows, and finds no other text", async () => {
    const path = join(folder.path, "windows");
    for (let before = 0; before < 80; before++) {
      await writeFile(path, around(before));
      expect([...(await mark.inFiles([path], 40)).forms]).toEqual(["utf-8"]);
    }
    await writeFile(path, mark.text.slice(0, -1));
    expect([...(await mark.inFiles([path])).forms]).toEqual([]);
    expect([...mark.inText(`a ${mark.text} b`).forms]).toEqual(["utf-8"]);
  });
});

/** One that opens what it passes, and one that does not. The others: `test/full/watermark.test.ts`. */
describeWays(
  [
    { pin: "a2a@1.0/JSONRPC", mode: "adopt" },
    { pin: "secured-toy@1/WS", mode: "relay" },
  ],
  folder,
);

test("a gateway that relays a sealed session holds nothing readable, though nobody sealed the message", {
  timeout: 120_000,
}, async () => {
  const { caller, agent, gateway } = await sayThrough(folder.path, newMark(), { pin: "anp@1.2/WS", mode: "relay" }, undefined);
  expect([...caller.forms, ...agent.forms]).toEqual(["utf-8", "utf-8"]);
  for (const [where, { forms }] of Object.entries(gateway)) expect([where, ...forms]).toEqual([where]);
});
