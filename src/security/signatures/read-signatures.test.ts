import { describe, expect, test } from "vitest";
import type { SignatureProfile } from "./profile.js";
import { readSignature } from "./read-signatures.js";
import { SignatureError } from "./signature-error.js";

/** Signatures in their usual form are read without the parser. Beside another signature the parser reads them: both must agree. */

const PROFILE: SignatureProfile = {
  label: "sig1",
  tag: "t-1",
  parameters: ["created", "expires", "nonce", "keyid", "alg"],
  algorithms: ["hmac-sha256"],
  digest: "sha-256",
  request: { sign: ["@method"] },
  lifetimeMs: 300_000,
  skewMs: 30_000,
};
const LIST = '("@method" "@path";req "content-digest")';
const INPUT = `sig1=${LIST};created=1800000000;expires=1800000300;nonce="n-1";keyid="did:a:b#key-1";alg="hmac-sha256";tag="t-1"`;
const VALUE = "sig1=:AAECAwQFBgcICQoLDA0ODw==:";

type Outcome = { readonly problem: string } | ReturnType<typeof readSignature>;

function outcome(input: string, signature: string): Outcome {
  try {
    return readSignature({ "signature-input": input, signature }, PROFILE);
  } catch (thrown) {
    if (thrown instanceof SignatureError) return { problem: thrown.problem };
    throw thrown;
  }
}

/** The same by the parser: a signature of somebody else is ignored, and no usual form. */
const parsed = (input: string, signature: string): Outcome =>
  outcome(`${input}, other=("@method")`, `${signature}, other=:AA==:`);

describe("a signature in its usual form", () => {
  test("is what the parser reads, the first time and later", () => {
    const first = outcome(INPUT, VALUE);
    expect(first).toMatchObject({
      ...{ label: "sig1", created: 1_800_000_000, expires: 1_800_000_300, nonce: "n-1", keyid: "did:a:b#key-1" },
      ...{ alg: "hmac-sha256", tag: "t-1", text: INPUT.slice("sig1=".length) },
    });
    expect(outcome(INPUT, VALUE)).toEqual(first);
    expect(parsed(INPUT, VALUE)).toEqual(first);
    expect("components" in first && first.components.map(({ text }) => text)).toEqual([
      '"@method"',
      '"@path";req',
      '"content-digest"',
    ]);
  });

  const CHANGES: readonly (readonly [what: string, from: string, to: string])[] = [
    ["another order of parameters", ';nonce="n-1";keyid="did:a:b#key-1"', ';keyid="did:a:b#key-1";nonce="n-1"'],
    ["a parameter twice", ';alg="hmac-sha256"', ';alg="hmac-sha256";alg="ed25519"'],
    ["a parameter less", ';nonce="n-1"', ""],
    ["an unknown parameter", ';tag="t-1"', ';tag="t-1";x=1'],
    ["another tag", ';tag="t-1"', ';tag="t-2"'],
    ["no tag", ';tag="t-1"', ""],
    ["no algorithm", ';alg="hmac-sha256"', ""],
    ["leading zeros", "created=1800000000", "created=01800000000"],
    ["a decimal", "created=1800000000", "created=1800000000.5"],
    ["a negative time", "created=1800000000", "created=-1"],
    ["sixteen digits", "created=1800000000", "created=1800000000000000"],
    ["an escape", 'nonce="n-1"', 'nonce="n-\\"1"'],
    ["a long nonce", 'nonce="n-1"', `nonce="${"n".repeat(257)}"`],
    ["a long key id", "did:a:b#key-1", "k".repeat(513)],
    ["a token in place of a string", 'alg="hmac-sha256"', "alg=hmac-sha256"],
    ["spaces in the list", '"@method" ', '"@method"  '],
    ["spaces before parameters", ";created", "; created"],
    ["a component twice", '"@path";req', '"@method"'],
    ["another label", "sig1=", "sig2="],
    ["a character outside of ASCII", "n-1", "n-é"],
    ["a line end", "n-1", "n-\n"],
  ];

  test.each(CHANGES)("with %s is what the parser reads, too", (_what, from, to) => {
    outcome(INPUT, VALUE); // its list is known
    const changed = INPUT.replace(from, to);
    expect(changed).not.toBe(INPUT);
    for (const value of [VALUE, VALUE.replace("sig1=", "sig2=")]) expect(outcome(changed, value)).toEqual(parsed(changed, value));
  });

  test.each(["sig1=:AAE:", "sig1=AAEC", "sig1=:AAEC:;x=1", "sig1=:AA\u00e9C:", "sig2=:AAEC:", "sig1=::", 'sig1="AAEC"'])(
    "with the value %s is what the parser reads, too",
    (value) => expect(outcome(INPUT, value)).toEqual(parsed(INPUT, value)),
  );

  test("with any one character changed is what the parser reads, too", () => {
    outcome(INPUT, VALUE);
    for (let at = 0; at < INPUT.length; at++)
      for (const char of ["x", '"', ";", "(", ")", "0", " ", ",", "="]) {
        const changed = INPUT.slice(0, at) + char + INPUT.slice(at + 1);
        expect([changed, outcome(changed, VALUE)]).toEqual([changed, parsed(changed, VALUE)]);
      }
  });
});
