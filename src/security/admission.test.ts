import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { ANONYMOUS } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { bearerTokens, describeSecurity, openAdmission, parseTokens } from "./admission.js";

const TOKEN = "correct-horse-battery";
const OTHER = "staple-0123456789abcdef";
const admit = bearerTokens(
  new Map([
    ["alice", TOKEN],
    ["bob", OTHER],
  ]),
);
const asking = (authorization?: string) => makeRequest({ method: "POST", url: "http://x/", headers: { authorization } });
/** RFC 6750 §3.1: without a token the challenge has no error, with a wrong one it has. */
const challenge = (error?: string) => ({
  code: "unauthenticated",
  facts: {
    head: { "www-authenticate": error === undefined ? 'Bearer realm="koine"' : expect.stringContaining(`error="${error}"`) },
  },
});
const thrown = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

describe("bearerTokens()", () => {
  test("identifies the holder of a token", () => {
    const alice = { id: "alice", scheme: "bearer", scopes: [], owner: "bearer:alice" };
    expect(admit(asking(`Bearer ${TOKEN}`))).toEqual(alice);
    expect(admit(asking(`bearer ${TOKEN}`))).toEqual(alice);
    expect(admit(asking(`BEARER  ${OTHER}`))).toMatchObject({ owner: "bearer:bob" });
    expect(admit(asking(`Bearer ${TOKEN}`))).toBe(admit(asking(`Bearer ${TOKEN}`)));
  });

  for (const header of [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    `Basic ${TOKEN}`,
    TOKEN,
    `Bearer\t${TOKEN}`,
    `Bearer ${"x".repeat(5000)}`,
  ])
    test(`challenges ${String(header).slice(0, 40)}`, () => {
      const error = thrown(() => admit(asking(header)));
      expect(error).toMatchObject(challenge());
      expect(String(error)).not.toContain(TOKEN);
    });

  for (const header of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, `Bearer ${TOKEN}, Bearer ${TOKEN}`])
    test(`refuses ${header}`, () => {
      const error = thrown(() => admit(asking(header)));
      expect(error).toMatchObject(challenge("invalid_token"));
      expect(inspect(error, { depth: 9 })).not.toContain(TOKEN);
    });

  test("refuses weak, doubled and unwritable tokens, and shows none of them", () => {
    for (const tokens of [
      [],
      [["a", "short"]],
      [["", TOKEN]],
      [["a", `${TOKEN} with spaces`]],
      [["a", `${TOKEN}\r\nx`]],
      [
        ["a", TOKEN],
        ["b", TOKEN],
      ],
    ] as const) {
      const error = thrown(() => bearerTokens(new Map(tokens)));
      expect(error).toMatchObject({ code: "invalid_message" });
      expect(inspect(error)).not.toContain(TOKEN);
    }
  });

  test("cannot be made to show a token", () => {
    expect(inspect(admit, { depth: 9, showHidden: true })).not.toContain(TOKEN);
  });
});

describe("parseTokens()", () => {
  test("reads lines, commas and comments", () => {
    expect(parseTokens(`# who\nalice=${TOKEN}\r\n\n bob = ${OTHER}==`)).toEqual(
      new Map([
        ["alice", TOKEN],
        ["bob", `${OTHER}==`],
      ]),
    );
    expect(parseTokens(`alice=${TOKEN},bob=${OTHER}`).size).toBe(2);
  });

  for (const [text, message] of [
    ["", "no token is configured, so every caller would be refused"],
    [TOKEN, "entry 1 of the tokens is not of the form name=token"],
    [`=${TOKEN}`, "entry 1 of the tokens is not of the form name=token"],
    [`a=${TOKEN}\na=${OTHER}`, 'entry 2 of the tokens repeats the name "a"'],
    ["a=short", 'the token of "a" is shorter than 16 characters'],
  ] as const)
    test(`says: ${message}`, () => {
      expect(thrown(() => parseTokens(text))).toMatchObject({ message });
    });
});

test("openAdmission() admits everyone as the anonymous caller", () => {
  expect(openAdmission()(asking())).toBe(ANONYMOUS);
});

test("describeSecurity() describes the schemes of a card", () => {
  expect(describeSecurity(admit)).toEqual({
    schemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    anyOf: [{ bearer: [] }],
  });
  expect(describeSecurity(openAdmission())).toEqual({ schemes: {}, anyOf: [] });
  expect(describeSecurity(() => ANONYMOUS)).toEqual({ schemes: {}, anyOf: [] });
});
