import { afterAll, beforeAll, expect, test } from "vitest";
import { snippetsOf } from "../../../tools/snippets.mjs";
import { DocumentedWorld } from "./documented.js";

/** What the guide and the SAGE design write, run as it is written in a world in which their names mean something. */

let world: DocumentedWorld;
beforeAll(async () => {
  world = await DocumentedWorld.open();
}, 60_000);
afterAll(() => world?.close());

test("the snippets of the guide run from the first line to the last, and print what they say", { timeout: 90_000 }, async () => {
  const snippets = snippetsOf("docs/sage.md").map((lines) => lines.map(({ code }) => code).join("\n"));
  expect(snippets).toHaveLength(1);
  const { code, stdout, stderr } = await world.run("guide.mts", snippets.join("\n"));
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    "peer: hello true",
    world.here("did:sage:ethereum:0x1234567890abcdef1234567890abcdef12345678"),
    "ErrReplayAttack",
    "Mocked response",
    "a2a 1.0 false",
    "Ed25519 true",
    "true sage",
    "a2a",
    "{ protected: false, reason: 'peer-has-no-sage' } 1",
  ]);
  expect(code).toBe(0);
});

/** The three configurations as the design writes them: identity and registry are in the environment. */
const CONFIGURATIONS = `
import { NetworkEthereum, newAgent, newMessage, optional, ProtocolA2A, ProtocolAuto, ProtocolSAGE } from "koine/protocols/sage";

// Option 1: A2A Only (fastest, no blockchain)
const first = newAgent("agent")
  .withProtocol(ProtocolA2A)
  .build();

// Option 2: SAGE Only (most secure, requires blockchain)
const second = newAgent("agent")
  .withProtocol(ProtocolSAGE)
  .withSAGE({
    did: "did:sage:ethereum:0x1234567890abcdef1234567890abcdef12345678",
    network: NetworkEthereum,
  })
  .build();

// Option 3: Auto-detect (flexible, recommended)
const third = newAgent("agent")
  .withProtocol(ProtocolAuto)
  .withSAGE(optional())
  .build();

const recipients = [
  { recipientUrl: "https://other.example" },
  { recipientDid: "did:sage:ethereum:0x9876543210fedcba9876543210fedcba98765432" },
];
for (const agent of [first, second, third])
  for (const recipient of recipients)
    await agent.sendMessage(newMessage("hello", recipient)).then(
      ({ text, security }) => console.log(text, security?.protected),
      (error: Error) => console.log(error.name),
    );
`;

test("the three configurations of the design send what they may, and nothing else", { timeout: 90_000 }, async () => {
  const { code, stdout, stderr } = await world.run("configurations.mts", CONFIGURATIONS);
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toEqual([
    // A2A only: to an agent without SAGE, and not to one that must prove its DID.
    "other: hello false",
    "ErrDowngradeRefused",
    // SAGE only: the agent without SAGE gets nothing.
    "ErrDowngradeRefused",
    "peer: hello true",
    // Auto without an identity.
    "other: hello false",
    "ErrDowngradeRefused",
  ]);
  expect(code).toBe(0);
});
