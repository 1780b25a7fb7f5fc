import { describe, expect, test } from "vitest";
import { ANONYMOUS } from "../envelope/index.js";
import { bearerTokens, openAdmission } from "./admission.js";
import { assertMayBind, type BindRequest } from "./bind-rule.js";

const TOKENS = bearerTokens(new Map([["a", "0123456789abcdef"]]));
function verdict(wish: BindRequest): string {
  try {
    assertMayBind(wish);
    return "may";
  } catch (thrown) {
    return String(thrown);
  }
}

describe("assertMayBind()", () => {
  test("lets an open agent listen on loopback", () => {
    for (const host of ["127.0.0.1", "127.0.0.2", "::1", "[::1]", "localhost"])
      expect(verdict({ host, admission: openAdmission() })).toBe("may");
  });

  test("rejects wider addresses without admission, and explains what to do", () => {
    for (const host of [undefined, "0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.example", ""])
      for (const admission of [undefined, openAdmission()])
        expect(verdict({ host, admission })).toMatch(/without authentication.*bearer tokens.*127\.0\.0\.1.*open to everybody/);
  });

  test("accepts any admission, or the operator's explicit permission", () => {
    expect(verdict({ host: "0.0.0.0", admission: TOKENS })).toBe("may");
    expect(verdict({ host: "0.0.0.0", admission: () => ANONYMOUS })).toBe("may");
    expect(verdict({ host: undefined, admission: undefined, open: true })).toBe("may");
  });
});
