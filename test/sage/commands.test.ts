import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandOutput, CommandTools } from "../../src/protocols/protocol.js";
import { commands } from "../../src/protocols/sage/node/commands.js";
import { type DevChain, deployRegistry } from "../../src/protocols/sage/node/dev-chain.js";
import { taskLimits } from "../../src/tasks/limits.js";
import { MemoryRecords } from "../../src/tasks/stores/memory-records.js";
import { rpc, startDevChain } from "./registries.js";

let chain: DevChain;
let folder: string;
let registry: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
  chain = await startDevChain(0);
  registry = await deployRegistry(chain.rpc);
});
afterAll(async () => {
  await chain.stop();
  rmSync(folder, { recursive: true });
});

/** What the node says of the second step, if it is a transaction; else the step itself. */
async function proofOf(document: CommandOutput["document"]): Promise<unknown> {
  const { steps } = document as { readonly steps?: readonly { readonly transaction?: string }[] };
  const step = steps?.[1];
  return step?.transaction === undefined ? step : rpc(chain, "eth_getTransactionReceipt", [step.transaction]);
}

describe.each(["chain", "embedded"] as const)("koine sage (%s)", (kind) => {
  const records = new MemoryRecords(taskLimits(), Date.now);
  const tools = (options: CommandTools["options"] = {}): CommandTools => ({
    records,
    hasStore: kind === "embedded",
    options: { ...options, ...(kind === "chain" ? { rpc: chain.rpc, registry } : {}) },
    readFile: () => Promise.reject(new Error("no files")),
    untilStopped: () => Promise.resolve(),
  });
  const run = async (words: string, given: readonly string[], options: CommandTools["options"] = {}): Promise<CommandOutput> => {
    const printed = await commands.find((each) => each.words === words)?.run(given, tools(options));
    if (printed === undefined) throw new Error(`${words} printed nothing`);
    return printed;
  };
  const states = async (file: string) => {
    const { document } = await run("show", [file]);
    const { keys } = document as { readonly keys?: readonly { readonly id: string; readonly state: string }[] };
    return keys?.map(({ id, state }) => [id.split("#")[1], state]);
  };

  test("creates, registers, shows, rotates, revokes and deactivates", async () => {
    const file = join(folder, `${kind}.json`);
    const { text: did } = await run("create", [file], { network: "local" });
    expect(did).toMatch(/^did:sage:local:0x[0-9a-f]{40}$/);
    const { text, document } = await run("register", [file], { endpoint: "https://agent.example" });
    expect(text).toMatch(
      kind === "chain" ? /register {5}transaction 0x[0-9a-f]{64} {2}block \d+/ : /register {5}record 2 of the embedded registry/,
    );
    expect(await proofOf(document)).toMatchObject(kind === "chain" ? { status: "0x1", to: registry } : { record: 2 });
    expect((await run("show", [did])).text).toContain(kind === "chain" ? `contract ${registry}` : "no chain vouches for it");
    await run("rotate", [file], { overlap: "60" });
    expect(await states(file)).toEqual([
      ["key-1", "accepted"],
      ["key-2", "replaced"],
      ["key-3", "replaced"],
      ["key-4", "accepted"],
      ["key-5", "accepted"],
    ]);
    await run("revoke", [file, "#key-4"]);
    expect((await states(file))?.[3]).toEqual(["key-4", "revoked"]);
    expect(JSON.parse(readFileSync(file, "utf8")).keys[3]).not.toHaveProperty("privateKey");
    await run("deactivate", [file]);
    expect((await run("show", [file])).document).toMatchObject({ active: false });
    await expect(run("register", [file])).rejects.toMatchObject({ reason: "AlreadyRegistered" });
  });

  test("prints no private key", async () => {
    const file = join(folder, `${kind}-secret.json`);
    const printed = [await run("create", [file], { network: "local" }), await run("register", [file]), await run("show", [file])];
    for (const { privateKey } of JSON.parse(readFileSync(file, "utf8")).keys)
      expect(JSON.stringify(printed)).not.toContain(privateKey.d);
  });
});

test("without a registry the command says which there are", async () => {
  const file = join(folder, "none.json");
  const tools: CommandTools = {
    records: new MemoryRecords(taskLimits(), Date.now),
    hasStore: false,
    options: { network: "local" },
    readFile: () => Promise.reject(new Error("no files")),
    untilStopped: () => Promise.resolve(),
  };
  const run = (words: string) => commands.find((each) => each.words === words)?.run([file], tools);
  await run("create");
  await expect(run("show")).rejects.toThrow("give --data DIR or --store");
  await expect(
    commands.find(({ words }) => words === "show")?.run([file], { ...tools, options: { rpc: chain.rpc } }),
  ).rejects.toThrow("needs both --rpc URL and --registry ADDRESS");
});
