import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, DiscoveryCache, serve } from "../../src/index.js";
import type { CommandOutput, CommandTools } from "../../src/protocols/protocol.js";
import { commands } from "../../src/protocols/sage/node/commands.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { readSettings } from "../../src/protocols/sage/settings.js";
import { openIdentity } from "../../src/security/identity/index.js";
import { taskLimits } from "../../src/tasks/limits.js";
import { MemoryRecords } from "../../src/tasks/stores/memory-records.js";
import { koine } from "../cli/koine.js";
import { AgentCardChain } from "./agent-card.js";
import { standIn } from "./compile.js";
import { rpc, startDevChain } from "./registries.js";
import { PROTOCOLS, WHO } from "./world.js";

/** Commands with a registry of another profile: it is read, and never changed. */

/** The compiler is slow. */
const START_MS = 120_000;

let chain: DevChain;
let cards: AgentCardChain;
let folder: string;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
  file = join(folder, "agent.json");
  chain = await startDevChain(0);
  cards = await AgentCardChain.deploy(chain, standIn());
  await run("create", [file], { network: "local", registryProfile: "agent-card" });
  await cards.active(await openIdentity(file));
}, START_MS);
afterAll(async () => {
  await cards?.close();
  await chain?.stop();
  rmSync(folder, { recursive: true });
});

function run(
  words: string,
  given: readonly string[],
  options: CommandTools["options"],
  hasStore = false,
): Promise<CommandOutput> {
  const tools: CommandTools = {
    records: new MemoryRecords(taskLimits(), Date.now),
    hasStore,
    options,
    readFile: () => Promise.reject(new Error("no files")),
    untilStopped: () => Promise.resolve(),
  };
  const command = commands.find((each) => each.words === words);
  if (command === undefined) throw new Error(`there is no command ${words}`);
  return command.run(given, tools) as Promise<CommandOutput>; // each of these prints something
}

const onChain = () => ({ rpc: chain.rpc, registry: cards.address, registryProfile: "agent-card" });

test("show reads an AgentCardRegistry, and says that it is one", async () => {
  const { text, document } = await run("show", [file], { ...onChain(), registryFromBlock: "0" });
  expect(text).toContain(`from      agent-card contract ${cards.address} on chain 31337`);
  expect(document).toMatchObject({ active: true, source: { profile: "agent-card" } });
});

test("the options have these names on the command line", async () => {
  const { did } = await openIdentity(file);
  const place = ["--rpc", chain.rpc, "--registry", cards.address];
  const shown = await koine(["sage", "show", did, ...place, "--registry-profile", "agent-card", "-o", "json"]);
  expect([shown.code, shown.stderr]).toEqual([0, ""]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ did, source: { profile: "agent-card" } });
  const refused = await koine(["sage", "deactivate", file, ...place, "--registry-profile", "agent-card"]);
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining("is read only here")]);
  expect(refused.code).not.toBe(0);
});

test.each([
  ["register", []],
  ["rotate", []],
  ["revoke", ["key-2"]],
  ["endpoint", ["https://new.example"]],
  ["deactivate", []],
])("%s refuses it and changes nothing", async (words, more) => {
  const before = [await rpc(chain, "eth_blockNumber", []), readFileSync(file, "utf8")];
  await expect(run(words, [file, ...more], { ...onChain(), overlap: "0" })).rejects.toThrow(
    "a registry of the profile agent-card is read only here: koine sage show reads it",
  );
  expect([await rpc(chain, "eth_blockNumber", []), readFileSync(file, "utf8")]).toEqual(before);
});

test("every command that changes a registry is in the list above", () => {
  const changing = commands.filter(
    ({ options, readOnly }) => readOnly !== true && options?.some(({ flags }) => flags === "--rpc <url>"),
  );
  expect(changing.map(({ words }) => words)).toEqual(["register", "rotate", "revoke", "endpoint", "deactivate"]);
});

test("agents in it serve and call each other by SAGE, with the settings of the same names", async () => {
  const caller = join(folder, "ann.json");
  await run("create", [caller], { network: "local", registryProfile: "agent-card" });
  const [desk, ann] = [await openIdentity(file), await openIdentity(caller)];
  await cards.active(ann);
  const place = { rpc: chain.rpc, registry: cards.address, registryFromBlock: 0 };
  const sage = { ...place, registryProfile: "agent-card" };
  const server = await serve(WHO, { protocols: PROTOCOLS, identity: desk, settings: { sage } });
  const asAnn = { protocols: PROTOCOLS, identity: ann, discoveryCache: new DiscoveryCache() };
  const peer = await connect(server.url, { ...asAnn, settings: { sage: { ...sage, peer: desk.did } }, require: ["end-to-end"] });
  expect(await peer.ask("hello")).toBe(`did:${ann.did}: hello`);
  await peer.close();
  // By the profile of the other contract nobody is found.
  const unread = await connect(server.url, { ...asAnn, settings: { sage: { ...place, peer: desk.did } } });
  await expect(unread.ask("hello")).rejects.toMatchObject({ code: "bad_peer" });
  await unread.close();
  await server.close();
});

test.each([
  [{ registryProfile: "card" }, "sage.registryProfile must be one of sage, agent-card"],
  [{ registryProfile: "agent-card" }, "sage.rpc is missing"],
  [{ registryFromBlock: -1 }, "sage.registryFromBlock must be the number of a block"],
  [{ network: "here" }, "sage.network must be one of"],
])("settings %j are refused", (settings, problem) => {
  expect(() => readSettings(settings)).toThrow(problem);
});

test("wrong options are named", async () => {
  await expect(run("show", [file], { ...onChain(), registryProfile: "toString" })).rejects.toThrow(
    'there is no registry profile "toString"; known are sage, agent-card',
  );
  await expect(run("show", [file], { registryProfile: "agent-card" }, true)).rejects.toThrow(
    "the registry profile agent-card is on a chain: give --rpc URL and --registry ADDRESS",
  );
  await expect(run("show", [file], { ...onChain(), registryFromBlock: "0x10" })).rejects.toThrow(
    "--registry-from-block takes the number of a block",
  );
  await expect(run("show", [file], onChain(), true)).rejects.toThrow("give one of them");
});
