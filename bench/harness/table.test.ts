import { describe, expect, test } from "vitest";
import { renderTable, short } from "./table.js";

describe("renderTable()", () => {
  test("aligns the first column left and the others right", () => {
    const got = renderTable(
      ["arm", "req/s"],
      [
        ["floor", "31,000"],
        ["koine task", "900"],
      ],
    );
    expect(got).toBe("arm          req/s\n──────────  ──────\nfloor       31,000\nkoine task     900");
  });
});

describe("short()", () => {
  test.each([
    [18400.4, "18,400"],
    [812.3, "812"],
    [27.94, "27.9"],
    [7.018, "7.02"],
    [0.8123, "0.812"],
    [undefined, "–"],
  ])("%d → %s", (value, want) => expect(short(value)).toBe(want));
});
