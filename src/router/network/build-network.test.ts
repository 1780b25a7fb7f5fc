import { describe, expect, it } from "vitest";
import { AgentError } from "../../envelope/index.js";
import { protocols as registered } from "../../protocols/all.js";
import type { Protocol } from "../../protocols/protocol.js";
import {
  type AllowedDowngrade,
  buildNetwork,
  type Decisions,
  LINK_FEATURES,
  type LinkFeature,
  type NetworkModule,
} from "./index.js";

const MODULES: readonly NetworkModule[] = [
  { id: "retriever", neighbours: ["answerer"] },
  { id: "answerer", neighbours: ["judge", "retriever"] },
  { id: "judge" },
];
const BY_ID = {
  retriever: { selected_protocol: "ACP" },
  answerer: { module_id: "answerer", selected_protocol: "A2A" },
  judge: { selected_protocol: "A2A" },
};
const AS_LIST = [
  { module_id: "judge", selected_protocol: "A2A" },
  { module_id: "retriever", selected_protocol: "acp" },
  { module_id: "answerer", selected_protocol: "A2A" },
];

function refusal(
  decisions: Decisions,
  modules: readonly NetworkModule[],
  allowDowngrade?: readonly AllowedDowngrade[],
): AgentError {
  try {
    buildNetwork(decisions, modules, { allowDowngrade });
  } catch (thrown) {
    if (thrown instanceof AgentError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was refused");
}

function pair(src: string, dst: string, more: Partial<NetworkModule> = {}): [Decisions, readonly NetworkModule[]] {
  return [
    { a: { selected_protocol: src }, b: { selected_protocol: dst } },
    [{ id: "a", neighbours: ["b"], ...more }, { id: "b" }],
  ];
}

function featureOf(features: readonly LinkFeature[], name: string): LinkFeature {
  const found = features.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

describe("buildNetwork()", () => {
  it("makes nodes, links and bridges as the seed's function does", () => {
    const { nodes, links, bridges } = buildNetwork(BY_ID, MODULES);
    expect(nodes.map(({ id, protocol, spokenBy }) => [id, protocol, spokenBy])).toEqual([
      ["retriever", "ACP", "acp"],
      ["answerer", "A2A", "a2a"],
      ["judge", "A2A", "a2a"],
    ]);
    expect(links.map(({ src, dst, protocol }) => [src, dst, protocol])).toEqual([
      ["retriever", "answerer", ["ACP", "A2A"]],
      ["answerer", "judge", ["A2A", "A2A"]],
      ["answerer", "retriever", ["A2A", "ACP"]],
    ]);
    expect(bridges).toEqual([
      { src: "retriever", dst: "answerer", encode: "encode_to_a2a", decode: "decode_from_acp", stateless: true },
      { src: "answerer", dst: "retriever", encode: "encode_to_acp", decode: "decode_from_a2a", stateless: true },
    ]);
  });

  it("reads decisions as a list, and neighbours in the seed's spelling", () => {
    const modules = MODULES.map(({ id, neighbours }) => ({ id, neighbors: neighbours }));
    expect(buildNetwork(AS_LIST, modules)).toEqual(buildNetwork(BY_ID, MODULES));
  });

  it("has all six features of every node and link", () => {
    const { nodes, links } = buildNetwork(BY_ID, MODULES);
    for (const { features } of [...nodes, ...links]) expect(features.map(({ name }) => name)).toEqual(LINK_FEATURES);
  });

  it("enables features both ends have, and names the end that lacks one", () => {
    const { links } = buildNetwork(...pair("A2A", "Agora"));
    const features = links[0]?.features ?? [];
    expect(featureOf(features, "streaming")).toEqual({
      name: "streaming",
      on: false,
      primitive: "",
      because: "Agora has no primitive for it",
    });
    const sync = featureOf(features, "state-sync");
    expect(sync.on).toBe(true);
    expect(sync.primitive).toMatch(/^contextId .*SubscribeToTask.* → .*\/conversations\/\{id\}/);
  });

  it("uses the primitives of both sides across a bridge", () => {
    const { links } = buildNetwork(...pair("A2A", "ACP"));
    expect(featureOf(links[0]?.features ?? [], "streaming")).toMatchObject({
      on: true,
      primitive: expect.stringMatching(/^SendStreamingMessage.* → POST \/runs/),
    });
  });

  it("keeps end-to-end secrecy between two of one protocol, and never across a bridge", () => {
    const [any] = registered;
    if (any === undefined) throw new Error("there is no protocol");
    const sealed = (id: string): Protocol => ({
      ...any,
      id,
      features: undefined,
      traits: { ...any.traits, sealed: "end-to-end" },
      primitives: { "end-to-end": `the seal of ${id}` },
    });
    const settings = { protocols: [sealed("one"), sealed("two")] };
    const needing = { requires: ["end-to-end-secrecy"] } as const;
    const same = buildNetwork(...pair("one", "one", needing), settings);
    expect(featureOf(same.links[0]?.features ?? [], "end-to-end")).toMatchObject({ on: true, primitive: "the seal of one" });
    expect(() => buildNetwork(...pair("one", "two", needing), settings)).toThrow(
      "would lose end-to-end secrecy, which a needs: the bridge between them reads what it translates",
    );
    const accepted = buildNetwork(...pair("one", "two", needing), { ...settings, allowDowngrade: [{ src: "a", dst: "b" }] });
    expect(featureOf(accepted.links[0]?.features ?? [], "end-to-end")).toMatchObject({ on: false, primitive: "" });
  });

  it("leaves identity off between protocols with ordinary sign-in, unless a module asks for it", () => {
    const { nodes, links } = buildNetwork(...pair("A2A", "A2A"));
    for (const { features } of [...nodes, ...links])
      expect(featureOf(features, "identity")).toMatchObject({ on: false, because: "not requested" });
  });

  it("follows the requirements and exclusions of a module", () => {
    const { nodes, links } = buildNetwork(...pair("A2A", "ACP", { requires: ["enterprise-auth"], avoids: ["streaming"] }));
    const [a, b] = nodes.map(({ features }) => features);
    expect(featureOf(a ?? [], "streaming")).toMatchObject({ on: false, because: "a avoids streaming" });
    expect(featureOf(a ?? [], "identity")).toMatchObject({ on: true, because: "a requires enterprise-auth" });
    expect(featureOf(b ?? [], "identity")).toMatchObject({ on: false, because: "not requested" });
    // What one end asks for, the other has to give.
    expect(featureOf(links[0]?.features ?? [], "identity")).toMatchObject({ on: true });
    expect(featureOf(links[0]?.features ?? [], "streaming")).toMatchObject({ on: false, because: "a avoids streaming" });
  });

  it.each([
    ["what its protocol was made for", pair("ANP", "A2A"), "verified-identity, end-to-end-secrecy, non-repudiation"],
    ["what the callee's protocol was made for", pair("ACP", "ANP"), "verified-identity, end-to-end-secrecy, non-repudiation"],
    ["what a module requires", pair("A2A", "A2A", { requires: ["non-repudiation"] }), "non-repudiation"],
    [
      "what its evidence names",
      [
        [
          { module_id: "a", selected_protocol: "A2A", evidence_spans: ["End-to-end secrecy"] },
          { module_id: "b", selected_protocol: "A2A" },
        ],
        pair("", "")[1],
      ],
      "end-to-end-secrecy",
    ],
  ] as readonly [string, [Decisions, readonly NetworkModule[]], string][])(
    "refuses a link that would lose %s",
    (_, plan, lost) => {
      const error = refusal(...plan);
      expect(error.code).toBe("downgrade_refused");
      expect(error.message).toMatch(/^the link from a to b would lose /);
      expect(error.facts).toMatchObject({ field: "links.a.b", detail: { src: "a", dst: "b", lost } });
    },
  );

  it("allows an explicitly accepted loss, and keeps its reason", () => {
    const [decisions, modules] = pair("ANP", "A2A");
    const settings = { allowDowngrade: [{ src: "a", dst: "b", because: "both stand in one room" }] };
    const { links, bridges } = buildNetwork(decisions, modules, settings);
    expect(bridges).toHaveLength(1);
    expect(featureOf(links[0]?.features ?? [], "end-to-end")).toMatchObject({
      on: false,
      because: "downgrade accepted, losing end-to-end secrecy that a needs: both stand in one room",
    });
    expect(featureOf(links[0]?.features ?? [], "identity").because).toContain(
      "verified identity that a needs and non-repudiation",
    );
  });

  it("applies an accepted loss to one direction only, and to an existing link", () => {
    const [decisions] = pair("ANP", "A2A");
    const both = [
      { id: "a", neighbours: ["b"] },
      { id: "b", neighbours: ["a"] },
    ];
    expect(refusal(decisions, both, [{ src: "a", dst: "b" }]).message).toMatch(/^the link from b to a/);
    expect(refusal(...pair("A2A", "A2A"), [{ src: "b", dst: "a" }])).toMatchObject({
      code: "not_found",
      facts: { field: "allowDowngrade[0]" },
    });
  });

  it.each([
    ["an unknown neighbour", BY_ID, [{ id: "judge", neighbours: ["jury"] }], "not_found", "modules[0].neighbours[0]"],
    ["a neighbour of itself", BY_ID, [{ id: "judge", neighbours: ["judge"] }], "invalid_message", "modules[0].neighbours[0]"],
    [
      "a neighbour twice",
      BY_ID,
      [MODULES[2], { id: "answerer", neighbours: ["judge"], neighbors: ["judge"] }],
      "conflict",
      "modules[1].neighbours[1]",
    ],
    ["a module without a decision", {}, [{ id: "judge" }], "invalid_message", "decisions.judge"],
    [
      "a module nobody decided about",
      { judge: { selected_protocol: null } },
      [{ id: "judge" }],
      "invalid_message",
      "decisions.judge.selected_protocol",
    ],
    [
      "a protocol nobody knows",
      { judge: { selected_protocol: "SOAP" } },
      [{ id: "judge" }],
      "unsupported",
      "decisions.judge.selected_protocol",
    ],
    ["two modules of one name", BY_ID, [{ id: "judge" }, { id: "judge" }], "conflict", "modules[1].id"],
    ["two decisions about one module", [AS_LIST[0], AS_LIST[0]], [{ id: "judge" }], "conflict", "decisions[1]"],
    [
      "a decision about another module than it stands under",
      { judge: AS_LIST[1] },
      [{ id: "judge" }],
      "conflict",
      "decisions.judge.module_id",
    ],
    ["a record without a module", [{ selected_protocol: "A2A" }], [{ id: "judge" }], "invalid_message", "decisions[0].module_id"],
    ["too many modules", {}, Array.from({ length: 1_001 }, (_, index) => ({ id: `m${index}` })), "too_large", "modules"],
  ] as readonly [string, Decisions, readonly NetworkModule[], string, string][])(
    "rejects %s, with its position",
    (...[, decisions, modules, code, field]) => {
      const error = refusal(decisions, modules);
      expect([error.code, error.facts.field]).toEqual([code, field]);
    },
  );

  it("refuses more links than it may have", () => {
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
    const modules = ids.map((id) => ({ id, neighbours: ids.filter((other) => other !== id) }));
    const decisions = Object.fromEntries(ids.map((id) => [id, { selected_protocol: "A2A" }]));
    expect(refusal(decisions, modules)).toMatchObject({ code: "too_large" });
  });
});
