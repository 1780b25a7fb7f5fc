import { describe, expect, test } from "vitest";
import type { Deployments, Protocol } from "../../src/public/protocols.js";
import { protocols } from "../../src/public/protocols.js";
import { isClearBeyondLoopback, type ProfileFacts, profileGaps, profileLimits } from "./profile.js";

const COMPLETE: ProfileFacts = {
  protocols,
  isLocal: false,
  tls: true,
  clientCertificates: false,
  authentication: true,
  openToEverybody: false,
  audit: true,
  operatorViewShared: false,
  signedCards: true,
  durable: true,
  clearUpstreams: [],
};

const needsOf = (facts: Partial<ProfileFacts>): readonly string[] =>
  profileGaps("recommended", { ...COMPLETE, ...facts }).map(({ level, need }) => `${level} ${need}`);

/** A protocol that is not registered, as a later one will be. */
function protocolWith(recommended: Partial<Deployments["recommended"]>): Pick<Protocol, "id" | "deployments"> {
  const minimal = { transport: "clear", callers: "anonymous", messages: "plain", signedCards: false, because: "" } as const;
  return { id: "later", deployments: { minimal, recommended: { ...minimal, ...recommended } } };
}

describe("the recommended profile", () => {
  test("lacks nothing where everything is configured", () => {
    expect(needsOf({})).toEqual([]);
  });

  test.each<[Partial<ProfileFacts>, readonly string[]]>([
    [{ tls: false }, ["must tls"]],
    [{ tls: false, isLocal: true }, []],
    [{ authentication: false, isLocal: true }, ["must authentication"]],
    [{ openToEverybody: true }, ["must closed"]],
    [{ clearUpstreams: ["http://agents.example"] }, ["must upstreamTls"]],
    [{ audit: false }, ["must audit"]],
    [{ operatorViewShared: true }, ["must operatorView"]],
    [{ signedCards: false, durable: false }, ["should signedCards", "should durable"]],
  ])("%j: %j", (facts, needs) => {
    expect(needsOf(facts)).toEqual(needs);
  });

  test("follows the rows of the served protocols", () => {
    expect(needsOf({ protocols: [protocolWith({ transport: "mtls" })], signedCards: false })).toEqual([
      "must clientCertificates",
    ]);
    expect(needsOf({ protocols: [protocolWith({})], tls: false, authentication: false, signedCards: false })).toEqual([]);
  });

  test("the minimal one needs nothing and limits nothing", () => {
    expect(profileGaps("minimal", { ...COMPLETE, tls: false, authentication: false })).toEqual([]);
    expect([profileLimits("minimal"), profileLimits(undefined)]).toEqual([{}, {}]);
  });
});

test("every registered protocol has both rows", () => {
  for (const { id, deployments } of protocols) {
    expect([id, deployments?.minimal.transport]).toEqual([id, "clear"]);
    expect([id, deployments?.recommended.transport]).toEqual([id, "tls"]);
  }
});

test("clear text is a matter of addresses beyond this machine", () => {
  const urls = [
    "http://127.0.0.1:1",
    "http://localhost",
    "http://[::1]:9",
    "https://a.example",
    "http://a.example",
    "ws://10.0.0.1",
  ];
  expect(urls.filter(isClearBeyondLoopback)).toEqual(["http://a.example", "ws://10.0.0.1"]);
});
