import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.js";
import { protocolHash } from "./hash.js";
import { dataUriOf, textInDataUri } from "./sources.js";

interface Recorded {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
  readonly dataUri: string;
  readonly metadata?: { readonly name: unknown; readonly description: string; readonly multiround: unknown };
}

const RECORDED = JSON.parse(readFileSync("src/protocols/agora/fixtures/documents.json", "utf8")) as readonly Recorded[];

/** Intended differences from the library, which keeps the types that YAML gives. */
const READ_AS: {
  readonly [name: string]: { readonly name: string; readonly description: string; readonly multiround: boolean };
} = {
  "number as a name": { name: "42", description: "No description provided", multiround: true },
  "folded description": { name: "Folded", description: "two lines become one", multiround: true },
  empty: { name: "Unnamed protocol", description: "No description provided", multiround: false },
  "no front matter": { name: "Unnamed protocol", description: "No description provided", multiround: false },
};

describe.each(RECORDED)("a document as agora-protocol 0.2.0 sees it: $name", (recorded) => {
  it("has the same hash", async () => {
    expect(await protocolHash(recorded.text)).toBe(recorded.hash);
  });

  it("has the same data URI, both ways", () => {
    expect(dataUriOf(recorded.text)).toBe(recorded.dataUri);
    expect(textInDataUri(recorded.dataUri)).toBe(recorded.text);
  });

  it("has the same front matter", () => {
    expect(readFrontMatter(recorded.text)).toEqual(READ_AS[recorded.name] ?? recorded.metadata);
  });
});
