import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.js";

describe("readFrontMatter()", () => {
  it("needs both fences", () => {
    expect(readFrontMatter("---\nname: Open").name).toBe("Unnamed protocol");
  });

  it("keeps the first of two values, and cuts a long one", () => {
    expect(readFrontMatter(`---\nname: One\nname: Two\ndescription: ${"x".repeat(5_000)}\n---`)).toEqual({
      name: "One",
      description: "x".repeat(1_000),
      multiround: false,
    });
  });

  it("reads escapes in double quotes, and no key out of prose", () => {
    expect(readFrontMatter('---\nname: "a \\"b\\" \\\\ \\t c"\nsee http://x: y\n---')).toMatchObject({ name: 'a "b" \\ \t c' });
  });

  it("cuts a comment off at its mark, whatever other line ends follow", () => {
    expect(readFrontMatter("---\nname: One # two\u2028three\n---").name).toBe("One");
    expect(readFrontMatter("---\nname: One#two\n---").name).toBe("One#two");
  });
});
