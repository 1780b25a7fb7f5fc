import { chmod } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect, DiscoveryCache } from "../../src/index.js";
import { writeNewIdentity } from "../../src/security/identity/index.js";
import { boundIdentity, freePort, LOOPBACK } from "../anp/directory.js";
import { compiled } from "../programs.js";
import { nodeOf, Site } from "./running.js";

/** Modules with identities: they call each other by their DIDs, in sealed sessions. */

const AGENT = `
import { agent } from ${JSON.stringify(pathToFileURL(compiled("src/index.ts")).href)};
const own = agent({
  name: process.env.NAME,
  description: "Asks its neighbour, or answers",
  handle: (message) => (message.text === "ask" ? own.ask("bob", "hello") : process.env.NAME + " heard " + message.text),
});
export default own;
`;

let site: Site;
beforeEach(async () => {
  site = await Site.open(await import(compiled("apps/up/index.ts")));
  await chmod(site.folder, 0o700);
  await site.write("agent.mjs", AGENT);
});
afterEach(() => site.close());

async function plan(members: (id: string) => object = () => ({})) {
  const modules = await Promise.all(
    ["ann", "bob"].map(async (id) => {
      const port = await freePort();
      const file = `${id}.json`;
      await writeNewIdentity(`${site.folder}/${file}`, boundIdentity(port, id));
      const calls = id === "ann" ? { neighbours: ["bob"] } : { require: ["end-to-end", "identity"] };
      return { id, agent: "./agent.mjs", env: { NAME: id }, port, pin: "anp@1.2/WS", identity: file, ...calls, ...members(id) };
    }),
  );
  const decisions = modules.map(({ id }) => ({ module_id: id, selected_protocol: "ANP" }));
  return { decisions, modules, settings: LOOPBACK };
}

describe("modules with identities", { timeout: 60_000 }, () => {
  it("call each other by their DIDs, and meet what the callee requires", async () => {
    const launched = await site.launch(await plan());
    await launched.settled();
    expect(launched.nodes().map(({ id, state, problem }) => [id, state, problem])).toEqual([
      ["ann", "ready", undefined],
      ["bob", "ready", undefined],
    ]);
    const peer = await connect(nodeOf(launched, "ann").url, { settings: LOOPBACK, discoveryCache: new DiscoveryCache() });
    try {
      expect(await peer.ask("ask")).toBe("bob heard hello");
    } finally {
      await peer.close();
    }
  });

  it("cannot be required to be sealed without one: a peer that nobody named may be anybody", async () => {
    const without = await plan((id) => (id === "bob" ? { identity: undefined } : {}));
    await expect(site.launch(without)).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  it("are not started with a file that cannot be used", async () => {
    const missing = await plan((id) => (id === "bob" ? { identity: "nowhere.json" } : {}));
    await expect(site.launch(missing)).rejects.toThrow("the identity of bob cannot be used");
  });
});
