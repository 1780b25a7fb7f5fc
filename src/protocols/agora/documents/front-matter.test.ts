import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.js";

describe("readFrontMatter()", () => {
  it("needs both fences", () => {
    expect(readFrontMatter("---\nname: Open").name).toBe("Unnamed protocol");
  });

  it("keeps the first of two values, and truncates a long one", () => {
    expect(readFrontMatter(`---\nname: One\nname: Two\ndescription: ${"x".repeat(5_000)}\n---`)).toEqual({
      name: "One",
      description: "x".repeat(1_000),
      multiround: false,
    });
  });

  it("reads escapes in double quotes, and no keys from prose", () => {
    expect(readFrontMatter('---\nname: "a \\"b\\" \\\\ \\t c"\nsee http://x: y\n---')).toMatchObject({ name: 'a "b" \\ \t c' });
  });

  it("ends a comment at any line end", () => {
    expect(readFrontMatter("---\nname: One # two\u2028three\n---").name).toBe("One");
    expect(readFrontMatter("---\nname: One#two\n---").name).toBe("One#two");
  });
});
