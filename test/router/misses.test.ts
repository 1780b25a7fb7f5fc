import { describe, expect, it } from "vitest";
import { type Decision, route } from "../../src/router/index.js";

async function decideText(text: string): Promise<Decision> {
  const { decisions } = await route({ id: "s", description: "", modules: [{ id: "m", passages: [{ kind: "need", text }] }] });
  const [decision] = decisions;
  if (decision === undefined) throw new Error("one module has one decision");
  return decision;
}

type Row = readonly [protocol: string, text: string];

const EXCLUDED: readonly Row[] = [
  ["A2A", "No encryption and no identity proofs wanted. Two sketching agents answer each other live, in quick little turns."],
  [
    "A2A",
    "Lists, paths and status codes are out of place here. The climbers' agents exchange short calls that are acted on at once.",
  ],
  [
    "ACP",
    "Votes are the assembly's affair. Each plot is an entry with its own address, created, read, changed and deleted over HTTP.",
  ],
  [
    "Agora",
    "We don't want streams, and encryption is the carrier's job. A tariff takes effect once four of six depots have voted for it.",
  ],
];

const OTHER_SENSE: readonly Row[] = [
  [
    "A2A",
    "The visual identity of the magazine is fixed. Editor agent and picture agent talk the cover over, with follow-up questions.",
  ],
  ["ACP", "The signature of a function is its parameters. Functions are listed, read, updated and removed as web resources."],
  ["A2A", "There is broad agreement that meetings are dull. The agent shows each sentence while it is still being spoken."],
];

const HEADINGS: readonly Row[] = [
  ["ACP", "Title: Identity and trust. Nightly, two million sensor rows are imported in bulk and archived."],
  ["Agora", "Subject: Chat room. A record is released only after three of the five curators have approved it by vote."],
];

const SIGN_IN: readonly Row[] = [
  ["A2A", "Vendors connect with mTLS."],
  ["A2A", "Carriers' agents authenticate by TLS client certificates issued by our own CA."],
  [
    "A2A",
    "We authenticate dealers' agents with OAuth client credentials. They then talk delivery slots over, offer and counter-offer.",
  ],
  // What one house's certificates do not prove is still needed.
  ["ANP", "Mutual TLS ends at our proxy: nobody between the two agents, the proxy included, may read the content."],
  ["ANP", "OAuth is of no use here: the partners share no authority, and each agent must prove by itself who it is."],
];

describe("a text is not misread", () => {
  it.each(EXCLUDED)("where a need is named only to be excluded: %s", async (protocol, text) => {
    expect((await decideText(text)).selected_protocol).toBe(protocol);
  });

  it.each(OTHER_SENSE)("where words of identity or agreement have another sense: %s", async (protocol, text) => {
    expect((await decideText(text)).selected_protocol).toBe(protocol);
  });

  it.each(HEADINGS)("where its heading names something else: %s", async (protocol, text) => {
    const { selected_protocol, margin } = await decideText(text);
    expect(selected_protocol).toBe(protocol);
    expect(margin).toBeGreaterThanOrEqual(0.5);
  });

  it.each(SIGN_IN)("where ordinary sign-in is named: %s", async (protocol, text) => {
    expect((await decideText(text)).selected_protocol).toBe(protocol);
  });
});

describe("the evidence of a decision", () => {
  it.each([
    [
      "when they forget to say how long the ship is, it asks back, and the talk goes on from there.",
      "it asks back, and the talk goes on from there",
    ],
    [
      "Nobody between the two agents, the proxy included, may read the content.",
      "Nobody between the two agents, the proxy included, may read the content",
    ],
    [
      "A new tariff of the harbour and its neighbours takes effect only once four of the six depots have voted for it.",
      "only once four of the six depots have voted for it",
    ],
  ])("is cut at the boundaries of clauses: %s", async (text, quotation) => {
    expect((await decideText(text)).evidence_spans[0]).toBe(quotation);
  });
});
