import { createServer, connect as dial } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { listenLocally } from "../controls/http.js";
import { searchCanary } from "./canary.js";
import { formsIn } from "./search.js";
import { Tap } from "./tap.js";

const TEXT = "SSN 900-01-4501";
const around = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from("before "), bytes, Buffer.from(" after")]);

describe("a search", () => {
  it.each([
    ["raw", Buffer.from(TEXT)],
    ["utf-16", Buffer.from(TEXT, "utf16le")],
    ...[0, 1, 2].map(
      (before) => ["base64", Buffer.from(Buffer.from(`${"x".repeat(before)}${TEXT}yyy`).toString("base64"))] as const,
    ),
    ["hex", Buffer.from(Buffer.from(TEXT).toString("hex"))],
    ["hex", Buffer.from(Buffer.from(TEXT).toString("hex").toUpperCase())],
    ["url", Buffer.from(encodeURIComponent(TEXT))],
    ["gzip", gzipSync(`a long text with ${TEXT} inside`)],
  ] as const)("finds a text as %s", async (form, bytes) => {
    expect([...formsIn(TEXT, around(bytes))]).toEqual([form]);
  });

  it("finds it in a packed stream that was cut off", async () => {
    const packed = gzipSync(`${TEXT} ${Array.from({ length: 2_000 }, (_, index) => `word${index * 7919}`).join(" ")}`);
    expect([...formsIn(TEXT, packed.subarray(0, packed.length - 200))]).toEqual(["gzip"]);
  });

  it("finds no other text, and refuses one whose forms are not known", async () => {
    expect([...formsIn(TEXT, Buffer.from(TEXT.slice(0, -1)))]).toEqual([]);
    expect(() => formsIn("short", Buffer.alloc(0))).toThrow("at least eight characters");
  });

  it("finds its canary in every form", async () => {
    expect((await searchCanary()).missing).toEqual([]);
  });
});

describe("a tap", () => {
  it("passes bytes on unchanged, in both directions, and keeps them until it is cleared", async () => {
    const server = createServer((socket) => socket.on("data", (piece) => socket.end(`heard ${piece}`)));
    const tap = await Tap.open();
    tap.target = await listenLocally(server);
    const received = await new Promise<string>((resolve) => {
      let text = "";
      const socket = dial({ port: tap.port, host: "127.0.0.1" }, () => socket.write("hello"));
      socket.on("data", (piece) => (text += piece));
      socket.on("close", () => resolve(text));
    });
    expect(received).toBe("heard hello");
    const recorded = tap.recorded().map(({ toServer, toClient }) => [toServer.toString(), toClient.toString()]);
    expect(recorded).toEqual([["hello", "heard hello"]]);
    tap.clear();
    expect(tap.recorded()).toEqual([]);
    tap.close();
    server.close();
  });
});
