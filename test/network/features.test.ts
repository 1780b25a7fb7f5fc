import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/index.js";
import { koine } from "../cli/koine.js";
import { compiled } from "../programs.js";
import { nodeOf, Site } from "./running.js";

const MS = 120_000;
/** Asks or streams what its neighbour answers. */
const DESK = `
import { agent } from ${JSON.stringify(pathToFileURL(compiled("src/index.ts")).href)};
const desk = agent({
  name: "desk",
  description: "Passes messages on",
  async handle({ text }) {
    if (text !== "stream") return desk.ask("till", text, { session: "one" });
    for await (const event of desk.stream("till", text)) return event.kind;
  },
});
export default desk;
`;
/** Answers with the metadata of the message. */
const TILL = "export const handle = ({ metadata }) => JSON.stringify(metadata ?? {});\n";

describe("the features of a link, on the wire", () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open(await import(compiled("apps/up/index.ts")));
    await site.write("desk.mjs", DESK);
    await site.write("till.mjs", TILL);
  });
  afterAll(() => site.close());

  /** One module with these capabilities stated, and its address once it is ready. */
  async function module(stated: object): Promise<string> {
    const launched = await site.launch({
      decisions: { desk: { selected_protocol: "A2A" }, till: { selected_protocol: "A2A" } },
      modules: [
        { id: "desk", demo: true, neighbours: ["till"] },
        { id: "till", demo: true, ...stated },
      ],
    });
    await launched.settled();
    const { state, url } = nodeOf(launched, "till");
    expect(state).toBe("ready");
    return url;
  }

  const message = (more: object = {}): object => ({
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }], ...more },
  });
  async function rpc(url: string, method: string, params: object, headers: { readonly [name: string]: string } = {}) {
    const response = await fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    return { status: response.status, text: await response.text() };
  }

  it("streaming, long-job and artifact that are off are refused, and the rest is answered", { timeout: MS }, async () => {
    const url = await module({ avoids: ["streaming", "job-lifecycle", "bulk-transfer"] });
    expect((await rpc(url, "SendMessage", message())).text).toContain('"hi"');
    const stream = await rpc(url, "SendStreamingMessage", message());
    expect(stream.text).toContain("streaming is off here: till avoids streaming");
    const started = await rpc(url, "SendMessage", { ...message(), configuration: { returnImmediately: true } });
    expect(started.text).toContain("long-job is off here: till avoids job-lifecycle");
    const linked = await rpc(
      url,
      "SendMessage",
      message({ parts: [{ url: "https://a.example/x.bin", mediaType: "image/png" }] }),
    );
    expect(linked.text).toContain("artifact is off here: till avoids bulk-transfer");
  });

  it("state-sync that is on numbers messages, and a number counts once", { timeout: MS }, async () => {
    const url = await module({});
    const numbered = (): object => message({ metadata: { "koine.sequence": { stream: "s", number: 1 } } });
    expect((await rpc(url, "SendMessage", numbered())).text).toContain('"result"');
    expect((await rpc(url, "SendMessage", numbered())).text).toMatch(/"error".*twice|"error".*replay|"error".*already/i);
  });

  it("identity that is on is demanded of callers, and shown by the plan's own", { timeout: MS }, async () => {
    const url = await module({ requires: ["enterprise-auth"] });
    expect((await rpc(url, "SendMessage", message())).status).toBe(401);
    expect((await rpc(url, "SendMessage", message(), { authorization: "Bearer guess-guess-guess-guess" })).status).toBe(401);
    // Its own supervisor pinged it with the token that it was given, else it were not ready.
  });

  it("refuses identity where nothing can identify callers, and end-to-end where no protocol has it", {
    timeout: MS,
  }, async () => {
    const plan = (stated: string): string => `decisions: { desk: { selected_protocol: A2A }, till: { selected_protocol: A2A } }
modules:
  - { id: desk, demo: true, neighbours: [till] }
  - { id: till, ${stated} }
`;
    const check = async (stated: string) => koine(["up", await site.write("plan.yaml", plan(stated)), "--check"]);
    const anybody = await check('url: "https://till.example", requires: [enterprise-auth]');
    expect([anybody.code, anybody.stderr]).toEqual([1, expect.stringContaining("nothing identifies its callers")]);
    const sealed = await check("demo: true, requires: [end-to-end-secrecy]");
    expect([sealed.code, sealed.stderr]).toEqual([1, expect.stringContaining("would lose end-to-end secrecy")]);
    const signed = await check("demo: true, require: [signed]");
    expect([signed.code, signed.stderr]).toEqual([1, expect.stringContaining("the calls from desk to till are refused")]);
    const local = await check("demo: true, require: [encrypted]");
    expect([local.code, local.stderr]).toEqual([
      0,
      expect.stringContaining("gets calls without encryption: the address is on this host"),
    ]);
  });

  it("holds for the calls of an agent to its neighbour", { timeout: MS }, async () => {
    const launched = await site.launch({
      decisions: { desk: { selected_protocol: "A2A" }, till: { selected_protocol: "ACP" } },
      modules: [
        { id: "desk", agent: "./desk.mjs", neighbours: ["till"] },
        { id: "till", agent: "./till.mjs", avoids: ["streaming"], requires: ["enterprise-auth"] },
      ],
    });
    await launched.settled();
    // Any token that is made for `till` is of no use to callers of `desk`, which demands none.
    const desk = await connect(nodeOf(launched, "desk").url);
    const numbers = [await desk.ask("a"), await desk.ask("b")].map((text) => JSON.parse(text)["koine.sequence"].number);
    expect(numbers).toEqual([1, 2]);
    await expect(desk.ask("stream")).rejects.toThrow("streaming is off here: till avoids streaming");
    await desk.close();
    const direct = await connect(nodeOf(launched, "till").url);
    await expect(direct.ask("a")).rejects.toMatchObject({ code: "unauthenticated" });
    await direct.close();
  });
});
