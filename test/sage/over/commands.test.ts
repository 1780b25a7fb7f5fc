import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { koine } from "../../cli/koine.js";
import { type Registered, SageCommands } from "../command-line.js";

/** `sage.over` as users write it: with --set of `koine serve` and `koine send`, and in koine.yaml. */

let commands: SageCommands;
let ann: Registered;
let gateway: Registered;
beforeAll(async () => {
  commands = await SageCommands.open();
  ann = await commands.register("ann");
  gateway = await commands.register("gateway");
}, 120_000);
afterEach(() => commands.stopGateways());
afterAll(() => commands.close());

describe.each([
  ["acp", "ACP+REST"],
  ["agora", "AGORA+HTTP"],
])("sage.over=%s", (over, binding) => {
  let desk: Registered;
  beforeAll(async () => {
    desk = await commands.serve(`desk-${over}`, "--set", `sage.over=${over}`);
  }, 120_000);

  test("of koine serve and koine send", { timeout: 120_000 }, async () => {
    const identity = ["--identity", ann.file, "--store", commands.state];
    for (const more of [["--set", `sage.over=${over}`], []]) {
      const sent = await koine(["send", desk.did, "hello", ...identity, ...more, "-v"]);
      expect([sent.stdout.trim(), sent.code]).toEqual([`did:${ann.did}: hello`, 0]);
      expect(sent.stderr).toContain(`sage@1 ${binding}, verified by a live answer`);
    }
    const refused = await koine(["send", desk.did, "hello", ...identity, "--set", "sage.over=a2a"]);
    expect([refused.stdout, refused.stderr]).toEqual(["", expect.stringContaining("does not offer SAGE")]);
  });

  test("of koine.yaml: callers and upstream", { timeout: 120_000 }, async () => {
    const { said, url } = await commands.startGateway(desk.did, `{ over: "${over}" }`);
    expect(said).toContain(`sage@1/${binding}, verified by a live answer`);
    const through = ["--protocol", "sage", "--identity", ann.file, "--store", commands.state, "-v"];
    const sent = await koine(["send", url, "hello", ...through]);
    expect([sent.stdout.trim(), sent.code]).toEqual([`did:${gateway.did}: hello`, 0]);
    expect(sent.stderr).toContain(`sage@1 ${binding}, verified by a live answer`);
  });
});
