import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { agent, type Server, serve } from "../../src/index.js";
import { readCardKey } from "./card-key.js";
import { createOutput, sayProblem } from "./output.js";
import { problemOf } from "./problem.js";
import { createProgram } from "./program.js";

const CARD = {
  name: "clerk",
  description: "Keeps files",
  version: "1.0.0",
  supportedInterfaces: [{ url: "https://acme.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "a", name: "a", description: "a", tags: ["a"] }],
};
let folder: string;
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "koine-card-"));
  writeFileSync(at("card.json"), JSON.stringify(CARD));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line without a process of its own: what it writes, and how it would end. */
async function koine(...args: readonly string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((chunk) => {
      written[name] += String(chunk);
      return true;
    }),
  );
  try {
    const program = await createProgram("0", ["card", ...args]);
    await program.parseAsync(["card", ...args], { from: "user" });
    return { code: 0, ...written };
  } catch (thrown) {
    const problem = problemOf(thrown);
    sayProblem(problem, createOutput("text"));
    return { code: problem.exit, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe("cards and keys in files", () => {
  test("a new key signs a card that verifies", async () => {
    const made = await koine("key", "--alg", "ES256", "--out", at("acme"));
    expect(made.code).toBe(0);
    const published = JSON.parse(made.stdout) as { keys: Record<string, string>[] };
    expect(published).toEqual(JSON.parse(readFileSync(at("acme.public.json"), "utf8")));
    expect(published.keys[0]).toMatchObject({ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" });
    expect(made.stdout + made.stderr + readFileSync(at("acme.public.json"), "utf8")).not.toContain('"d"');
    expect(statSync(at("acme.private.json")).mode & 0o777).toBe(0o600);

    const signed = await koine("sign", at("card.json"), "--key", at("acme.private.json"));
    expect(signed.code).toBe(0);
    expect(JSON.parse(signed.stdout)).toMatchObject(CARD);
    writeFileSync(at("signed.json"), signed.stdout);
    const good = await koine("verify", at("signed.json"), "--trust", at("acme.public.json"), "-o", "json");
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout)).toEqual({ result: "verified", by: published.keys[0]?.["kid"] });

    writeFileSync(at("changed.json"), signed.stdout.replace("Keeps files", "Loses files"));
    const bad = await koine("verify", at("changed.json"), "--trust", at("acme.public.json"));
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toContain("the signature does not match");
  });

  test("a second key signs beside the first; signing again replaces its signature", async () => {
    expect((await koine("key", "--out", at("one"), "--kid", "one")).code).toBe(0);
    expect((await koine("key", "--out", at("two"), "--kid", "two", "--format", "pem")).code).toBe(0);
    writeFileSync(at("by-one.json"), (await koine("sign", at("card.json"), "--key", at("one.private.json"))).stdout);
    const byBoth = (await koine("sign", at("by-one.json"), "--key", at("two.private.pem"), "--kid", "two")).stdout;
    writeFileSync(at("by-both.json"), byBoth);
    const again = (await koine("sign", at("by-both.json"), "--key", at("one.private.json"))).stdout;
    expect((JSON.parse(again) as { signatures: unknown[] }).signatures).toHaveLength(2);
    for (const name of ["one", "two"])
      expect((await koine("verify", at("by-both.json"), "--trust", at(`${name}.public.json`))).stdout).toContain(
        `signed by ${name}`,
      );
  });

  test("no file is overwritten, and errors name the file", async () => {
    expect((await koine("key", "--out", at("kept"))).code).toBe(0);
    const before = readFileSync(at("kept.private.json"), "utf8");
    const again = await koine("key", "--out", at("kept"));
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("is not overwritten");
    expect(readFileSync(at("kept.private.json"), "utf8")).toBe(before);
    expect(await koine("verify", at("card.json"), "--trust", at("kept.public.json"))).toMatchObject({ code: 1 });
    expect(await koine("sign", at("card.json"), "--key", at("nowhere"))).toMatchObject({ code: 2 });
    writeFileSync(at("secret.txt"), "-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----");
    const wrong = await koine("sign", at("card.json"), "--key", at("secret.txt"));
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).not.toContain("hunter2");
  });
});

describe("a served card", () => {
  let server: Server;
  beforeAll(async () => {
    expect((await koine("key", "--out", at("served"), "--kid", "acme")).code).toBe(0);
    const cardKeys = [await readCardKey(at("served.private.json"))];
    server = await serve(agent({ name: "clerk", description: "Keeps files", handle: () => "yes" }), { cardKeys });
  });
  afterAll(() => server.close());

  test("is printed with its signer", async () => {
    const ask = (...args: readonly string[]): Promise<Ran> => koine("get", server.url, ...args);
    expect((await ask()).stdout).toMatch(/^signature +the card is signed, but not by a trusted key \(kid "acme"/m);
    const trusted = await ask("--trust", at("served.public.json"), "--require-signed", "-o", "json");
    expect(JSON.parse(trusted.stdout)).toMatchObject({ signature: { result: "verified", by: "acme" } });
    expect((await koine("key", "--out", at("stranger"))).code).toBe(0);
    const refused = await ask("--trust", at("stranger.public.json"), "--require-signed");
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("a card signed by a trusted key is required");
    expect((await ask("--require-signed")).code).toBe(2);
  });
});
