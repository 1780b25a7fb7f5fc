import { describe, expect, it } from "vitest";
import type { Requirement, Subject } from "../src/protocols/requirement.js";
import type { Traits } from "../src/public/protocols.js";
import { type BridgeEnd, formatThrough, runThrough } from "./through.js";

type Outcome = "met" | "unmet" | "skipped" | "unmet once";
/** How a duty comes out, by who is asked. */
type Script = { readonly [who: string]: Outcome };

const TRAITS: Traits = {
  streaming: true,
  tasks: true,
  resume: false,
  idempotentSend: false,
  inputTurns: false,
  signed: "none",
  sealed: "none",
  binary: false,
  proofs: false,
  carries: [],
};

const subjectAt = (url: string): Subject => ({
  url,
  exchange: () => Promise.reject(new Error("no check here sends anything")),
  headers: {},
  newId: () => "id",
});

function duty(id: string, script: Script, capability: Requirement["capability"] = "round-trip"): Requirement {
  let asked = 0;
  return {
    id,
    capability,
    level: "must",
    source: "the test",
    behaviour: `${id} holds.`,
    async check({ url }) {
      const outcome = script[url] ?? "met";
      if (outcome === "skipped") return { skipped: "it is not offered" };
      if (outcome === "unmet" || (outcome === "unmet once" && ++asked === 1)) throw new Error(`${url} does not`);
    },
  };
}

async function run(requirements: readonly Requirement[], upstreamSpeaks = requirements, traits = TRAITS) {
  let hosts = 0;
  const end = (url: string, duties: readonly Requirement[]): BridgeEnd => ({
    subject: subjectAt(url),
    protocols: [{ id: "p", requirements: async () => duties, traits }],
  });
  const report = await runThrough(end("agent", upstreamSpeaks), end("gateway", requirements), {
    openHost: async () => ({ subject: subjectAt("host"), close: async () => void hosts++ }),
  });
  return { report, hosts, broken: report.broken.map(({ id, metBy }) => `${id}: ${metBy}`) };
}

describe("runThrough()", () => {
  it("reports requirements that only the upstream meets", async () => {
    const { report, broken, hosts } = await run([duty("p:a:one", { gateway: "unmet" }), duty("p:a:two", {})]);
    expect([broken, report.holds, hosts]).toEqual([["p:a:one: upstream"], false, 0]);
    expect(report.broken[0]?.detail).toBe("gateway does not");
  });

  it("does not report requirements the upstream does not meet either, and lists those the gateway fixes", async () => {
    const { report, broken } = await run([
      duty("p:a:one", { agent: "unmet", gateway: "unmet" }),
      duty("p:a:two", { agent: "unmet" }),
    ]);
    expect([broken, report.holds, report.mended]).toEqual([[], true, ["p:a:two"]]);
  });

  it("compares with a plain host for protocols the upstream does not support, and closes it", async () => {
    const duties = [duty("p:b:one", { gateway: "unmet" }), duty("p:b:two", { gateway: "unmet", host: "unmet" })];
    const { broken, hosts } = await run(duties, []);
    expect([broken, hosts]).toEqual([["p:b:one: plain host"], 1]);
  });

  it("does not report on one wire what the upstream fails by itself", async () => {
    const direct = duty("p:own:error:throws", { agent: "unmet" });
    const { broken } = await run([duty("p:other:error:throws", { gateway: "unmet" })], [direct]);
    expect(broken).toEqual([]);
  });

  it("repeats a failed requirement before reporting it", async () => {
    const { broken } = await run([duty("p:a:one", { gateway: "unmet once" })]);
    expect(broken).toEqual([]);
  });

  it("reports capabilities the gateway no longer declares", async () => {
    const { report } = await run([duty("p:a:one", { gateway: "skipped" })]);
    expect([report.holds, report.dropped]).toEqual([true, [{ id: "p:a:one", reason: "it is not offered" }]]);
  });

  it("requires no streams of an upstream without them", async () => {
    const duties = [duty("p:b:stream", { gateway: "unmet" }, "streaming"), duty("p:b:other", { gateway: "unmet" })];
    const { report, broken } = await run(duties, [], { ...TRAITS, streaming: false });
    expect([broken, report.stoodIn]).toEqual([["p:b:other: plain host"], ["p:b:stream"]]);
  });

  it("runs only the selected requirements", async () => {
    const end = {
      subject: subjectAt("x"),
      protocols: [{ id: "p", requirements: async () => [duty("p:a", {}), duty("p:b", {})], traits: TRAITS }],
    };
    const { through } = await runThrough(end, end, { only: ["p:b"] });
    expect(through.verdicts.map(({ id }) => id)).toEqual(["p:b"]);
  });

  it("is formatted in a few lines", async () => {
    const { report } = await run([duty("p:a:one", { gateway: "unmet" }), duty("p:a:two", { gateway: "skipped" })]);
    const text = formatThrough(report);
    expect(text).toContain(
      "✗ p:a:one (must, the test)\n    p:a:one holds.\n    met by the upstream; through the gateway: gateway does not",
    );
    expect(text).toContain("– 1 met directly and not offered by the gateway: it is not offered");
    expect(text).toMatch(/\n1 broken by the gateway, 1 not offered by it, 0 met only through it$/);
  });
});
