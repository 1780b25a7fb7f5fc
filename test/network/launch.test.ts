import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LaunchedNetwork } from "../../apps/up/index.js";
import { AgentError, agent, connect, DiscoveryCache, type Server, serve } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { compiled } from "../programs.js";
import { isAlive, nodeOf, Site, until } from "./running.js";

/** Forwards the rest of the text to the named peer, otherwise echoes it. */
const CALLER = `
import { agent } from ${JSON.stringify(pathToFileURL(compiled("src/index.ts")).href)};
const caller = agent({
  name: process.env.CALLED ?? "caller",
  description: "Passes messages on",
  async handle(message) {
    const [to, ...rest] = message.text.split(" ");
    return rest.length === 0 ? process.env.CALLED + " has " + to : caller.ask(to, rest.join(" "));
  },
});
export default caller;
`;
const TOKEN = "the-token-of-the-till";
const WAIT_MS = 60_000;

describe("a mixed network", () => {
  let site: Site;
  let launched: LaunchedNetwork;
  let elsewhere: Server;

  beforeAll(async () => {
    site = await Site.open(await import(compiled("apps/up/index.ts")));
    await site.write("caller.mjs", CALLER);
    await site.write("token", `${TOKEN}\n`);
    elsewhere = await serve(agent({ name: "far", description: "Runs already", handle: () => "from afar" }));
    const modules = [
      { id: "desk", agent: "./caller.mjs", neighbours: ["till", "far"], pin: "a2a@0.3/JSONRPC", env: { CALLED: "desk" } },
      {
        id: "till",
        agent: "./caller.mjs",
        neighbours: ["rules"],
        credentials: { bearer: { file: "token" } },
        env: { CALLED: "till" },
      },
      { id: "rules", demo: true },
      { id: "far", url: elsewhere.url, pin: "a2a@1.0/GRPC" },
      { id: "vault", demo: true },
    ];
    const decisions = [
      { module_id: "desk", selected_protocol: "A2A" },
      { module_id: "till", selected_protocol: "ACP" },
      { module_id: "rules", selected_protocol: "Agora" },
      { module_id: "far", selected_protocol: "A2A" },
      { module_id: "vault", selected_protocol: "ANP" },
    ];
    launched = await site.launch({ decisions, modules });
    await launched.settled();
  }, WAIT_MS);
  afterAll(async () => {
    await site?.close();
    await elsewhere?.close();
  });

  const ask = async (id: string, text: string, credentials = {}): Promise<string> => {
    const peer = await connect(nodeOf(launched, id).url, { credentials, discoveryCache: new DiscoveryCache() });
    try {
      return await peer.ask(text);
    } finally {
      await peer.close();
    }
  };

  it("is up, with a bridge between different protocols", () => {
    expect(site.lines).toEqual([]);
    expect(launched.nodes().map(({ id, kind, state, pin }) => [id, kind, state, pin])).toEqual([
      ["desk", "agent", "ready", "a2a@0.3/JSONRPC"],
      ["till", "agent", "ready", "acp"],
      ["rules", "demo", "ready", "agora"],
      ["far", "url", "ready", "a2a@1.0/GRPC"],
      ["vault", "demo", "ready", "anp"],
      ["till~a2a", "bridge", "ready", "a2a"],
      ["rules~acp", "bridge", "ready", "acp"],
    ]);
  });

  it("carries a message across two bridges and back", async () => {
    expect(await ask("desk", "till rules hello")).toBe("hello");
    expect(await ask("desk", "till bread")).toBe("till has bread");
    expect(await ask("desk", "far away")).toBe("from afar");
  });

  it("serves each agent over its own interface only", async () => {
    const { url } = nodeOf(launched, "desk");
    const peer = await connect(url, { discoveryCache: new DiscoveryCache() });
    expect(peer.interfaces.map(({ protocol, version, binding }) => `${protocol}@${version}/${binding}`)).toEqual([
      "a2a@0.3/JSONRPC",
    ]);
    await peer.close();
    const params = { message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "x" }] } };
    const answer = await fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
    });
    // A2A 1.0 §9.5: a version that is not supported.
    expect(await answer.json()).toMatchObject({ error: { code: -32009 } });
    for (const { id } of protocols.filter((each) => each.id !== "a2a"))
      await expect(connect(url, { pin: id, discoveryCache: new DiscoveryCache() })).rejects.toBeInstanceOf(AgentError);
  });

  it("admits only callers with the credentials of the plan", async () => {
    await expect(ask("till", "bread")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await ask("till", "bread", { bearer: TOKEN })).toBe("till has bread");
    // A bridge does not bypass the credentials.
    await expect(ask("till~a2a", "bread")).rejects.toMatchObject({ code: "unauthenticated" });
    expect(await ask("till~a2a", "bread", { bearer: TOKEN })).toBe("till has bread");
  });

  it(
    "restarts killed processes, an agent and a bridge",
    async () => {
      for (const id of ["till", "till~a2a"]) {
        const before = nodeOf(launched, id).pid;
        launched.kill(id);
        const after = await until(launched, id, ({ state, restarts }) => state === "ready" && restarts === 1);
        expect(after.pid).not.toBe(before);
        expect(after).toMatchObject({ url: nodeOf(launched, id).url, problem: undefined });
      }
      expect(await ask("desk", "till again")).toBe("till has again");
    },
    WAIT_MS,
  );

  it(
    "restarts on request, and never touches agents started elsewhere",
    async () => {
      const { pid: before = 0 } = nodeOf(launched, "rules");
      await launched.restart("rules");
      expect(isAlive(before)).toBe(false);
      await until(launched, "rules", ({ state, pid }) => state === "ready" && pid !== before);
      expect(() => launched.kill("far")).toThrow(/started elsewhere/);
      await expect(launched.restart("nobody")).rejects.toMatchObject({ code: "not_found" });
    },
    WAIT_MS,
  );

  it("detects when an external agent goes down", async () => {
    await elsewhere.close();
    expect((await until(launched, "far", ({ state }) => state === "unhealthy")).problem).toBeDefined();
  });

  it("leaves no process behind when it stops", async () => {
    const pids = launched.nodes().flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
    expect(pids).toHaveLength(6);
    await launched.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(launched.nodes().map(({ state }) => state)).toEqual(Array(7).fill("stopped"));
  });
});
