import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { koine } from "../cli/koine.js";
import { type Registered, SageCommands } from "./command-line.js";

/** `koine gateway` in front of an agent that accepts only signed and sealed messages: plain probes of it are refused. */

let commands: SageCommands;
let desk: Registered;
let ann: Registered;
let gateway: Registered;
beforeAll(async () => {
  commands = await SageCommands.open();
  desk = await commands.serve("desk");
  ann = await commands.register("ann");
  gateway = await commands.register("gateway");
}, 120_000);
afterEach(() => commands.stopGateways());
afterAll(() => commands.close());

describe("an upstream with require: [signed, end-to-end]", () => {
  test("by its DID: it is called by SAGE, and nothing says that calls are refused", { timeout: 120_000 }, async () => {
    const { said, url } = await commands.startGateway(desk.did);
    expect(said).toContain("sage@1/JSONRPC, verified by a live answer");
    expect(said).not.toContain("are refused");
    const sent = await koine(["send", url, "hello", "--protocol", "sage", "--identity", ann.file, "--store", commands.state]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${gateway.did}: hello`, 0]);
  });

  test("by its address: SAGE is found, though probes by other protocols are refused or answered", {
    timeout: 120_000,
  }, async () => {
    const { said } = await commands.startGateway(desk.url);
    expect(said).toContain(`upstream ${desk.url}  sage@1/JSONRPC, verified by a live answer`);
  });
});
