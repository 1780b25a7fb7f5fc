import { describe, expect, test } from "vitest";
import { protocols } from "./all.js";
import { surelyProtected, type Traits, traitsOf } from "./traits.js";

const TRAITS: Traits = {
  streaming: true,
  tasks: true,
  resume: true,
  idempotentSend: true,
  inputTurns: true,
  signed: "end-to-end",
  sealed: "end-to-end",
  binary: true,
  proofs: true,
  carries: [],
};
const PROTOCOL = {
  traits: TRAITS,
  versionTraits: { plain: { signed: "none", tasks: false } },
  bindingTraits: { HTTP: { signed: "hop", sealed: "none" } },
} as const;

describe("the traits of an interface", () => {
  test.each([
    ["1", undefined, "end-to-end", "end-to-end", true],
    ["1", "WS", "end-to-end", "end-to-end", true],
    ["1", "HTTP", "hop", "none", true],
    // A version that supports less does so over every binding.
    ["plain", "HTTP", "none", "none", false],
  ])("of version %s over %s", (...row) => {
    const [version, binding, signed, sealed, tasks] = row;
    expect(traitsOf(PROTOCOL, version, binding)).toMatchObject({ signed, sealed, tasks, streaming: true });
  });

  test("nothing is sure that one binding, or a version that may be found, does not have", () => {
    expect(surelyProtected(PROTOCOL, "1")).toEqual({ signed: "hop", sealed: "none" });
    expect(surelyProtected(PROTOCOL)).toEqual({ signed: "none", sealed: "none" });
    expect(surelyProtected({ traits: TRAITS })).toEqual({ signed: "end-to-end", sealed: "end-to-end" });
  });
});

test("only a protocol between identities is sealed over every binding", () => {
  const sealed = protocols.filter((each) => surelyProtected(each).sealed !== "none");
  expect(sealed.map(({ needsIdentity }) => needsIdentity)).toEqual([true]);
});
