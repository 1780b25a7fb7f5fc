import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SignatureProfile } from "./profile.js";
import { readSignature } from "./read-signatures.js";
import { SignatureError } from "./signature-error.js";

/** Signatures in their usual form are read without the parser, those with another label than the profile writes are not: both must agree. */

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

function outcome(input: string, signature: string, profile = PROFILE): Outcome {
  try {
    return readSignature({ "signature-input": input, signature }, profile);
  } catch (thrown) {
    if (thrown instanceof SignatureError) return { problem: thrown.problem };
    throw thrown;
  }
}

/** The same by the parser. */
const PARSED: SignatureProfile = { ...PROFILE, label: "other" };
const parsed = (input: string, signature: string): Outcome => outcome(input, signature, PARSED);

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

  test("after any other signature is what the parser reads, too", () => {
    const char = fc.constantFrom("a", "Z", "0", "9", '"', "\\", ";", "=", ":", "(", ")", " ", ",", "-", "~", "\n", "é");
    const word = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("a", "n-1", "n-22", "") },
      fc.string({ unit: char, maxLength: 6 }),
    );
    const time = fc.constantFrom("0", "1800000000", "1800000001", "1800000002", "01", "999999999999999");
    const tag = fc.constantFrom(';tag="t-1"', ';tag="t-1"', ';tag="t-2"', ';tag="t-1";tag="t-1"');
    const label = fc.constantFrom("sig1", "sig1", "sig", "sig11");
    const one = fc.record({ label, created: time, expires: time, nonce: word, keyid: word, tag }).map((parts) => {
      const { created, expires, nonce, keyid } = parts;
      const text = `;created=${created};expires=${expires};nonce="${nonce}";keyid="${keyid}";alg="hmac-sha256"${parts.tag}`;
      return `${parts.label}=${LIST}${text}`;
    });
    const value = fc.oneof(
      fc.constant(VALUE),
      fc.base64String({ maxLength: 12 }).map((base64) => `sig1=:${base64}:`),
      word,
    );
    /** A cut, a repetition or another character anywhere: what was kept of the last one may overlap. */
    const change = fc.tuple(fc.nat(250), fc.nat(250), word).map(
      ([from, length, put]) =>
        (input: string) =>
          input.slice(0, from) + put + input.slice(from + length),
    );
    let usual = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(one, value, fc.option(change)), { minLength: 2, maxLength: 6 }), (all) => {
        for (const [input, signature, changed] of all) {
          for (const text of changed === null ? [input, input] : [input, changed(input), input]) {
            const read = outcome(text, signature);
            expect([text, signature, read]).toEqual([text, signature, parsed(text, signature)]);
            if (!("problem" in read)) usual++;
          }
        }
      }),
      { numRuns: 500, seed: 20 },
    );
    expect(usual).toBeGreaterThan(300);
  });

  test("that is shorter than what is kept of the last one is not read as its begin and its end", () => {
    expect(outcome(INPUT, VALUE)).toHaveProperty("nonce", "n-1");
    const head = INPUT.slice(0, INPUT.indexOf("n-1"));
    const tail = INPUT.slice(INPUT.indexOf("n-1") + 3);
    const overlapping = head.slice(0, -1) + tail;
    expect([head.endsWith('"'), tail.startsWith('"')]).toEqual([true, true]);
    expect(outcome(overlapping, VALUE)).toEqual(parsed(overlapping, VALUE));
  });
});
