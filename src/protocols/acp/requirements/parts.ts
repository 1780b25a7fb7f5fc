import type { JsonObject } from "../../../envelope/index.js";
import { demand, demandArray, show } from "../../check.js";
import { OPENAPI, type Probe, post, type RunRequirement, run, runBody, SDK } from "./probe.js";
import { contentOf, demandRefusal, demandRun, isAbsent, partsOf } from "./shapes.js";

/** The parts that an echo returns. */
async function echoed(probe: Probe, ...parts: readonly JsonObject[]): Promise<readonly JsonObject[]> {
  const input = [{ role: "user", parts: [{ content_type: "text/plain", content: "conform: echo" }, ...parts] }];
  const { output } = await run(probe, "", { input });
  return demandArray(output, "output").flatMap(partsOf);
}

/** Round trips of part content. */
export const partRequirements: readonly RunRequirement[] = [
  {
    key: "parts:text-kept",
    capability: "round-trip",
    commanded: true,
    source: "RFC 8259 §8.1",
    behaviour: "Text is returned unchanged, code point by code point.",
    async run(probe) {
      const content = '"quoted" \\ soirée 🎉 中文 \u2028 \u0000 \ud83d\ude00';
      const parts = await echoed(probe, { content_type: "text/plain", content });
      demand(parts.map(contentOf).includes(content), `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:json-kept",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} MessagePart.content`,
    behaviour: "JSON in a part comes back as the same JSON, written as a string.",
    async run(probe) {
      const content = '{"deep":[1,{"ok":true,"nothing":null}]}';
      const parts = await echoed(probe, { content_type: "application/json", content });
      const got = parts.find(({ content_type: type }) => type === "application/json");
      demand(got !== undefined && JSON.stringify(JSON.parse(contentOf(got))) === content, `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:bytes-kept",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} MessagePart.content_encoding`,
    behaviour: "Bytes in base64 come back as the same bytes, with their type and still marked as base64.",
    async run(probe) {
      const parts = await echoed(probe, { content_type: "image/x-four", content: "AAH+/w==", content_encoding: "base64" });
      const got = parts.find(({ content_type: type }) => type === "image/x-four");
      demand(got?.["content"] === "AAH+/w==" && got["content_encoding"] === "base64", `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:url-kept",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} MessagePart.content_url`,
    behaviour: "The URL of content comes back unchanged, and is not fetched.",
    async run(probe) {
      const url = "https://files.example/page.html";
      const parts = await echoed(probe, { content_type: "text/html", content_url: url });
      const got = parts.find(({ content_url: address }) => address === url);
      demand(got !== undefined && isAbsent(got["content"]), `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:type-kept",
    capability: "round-trip",
    commanded: true,
    source: `${OPENAPI} MessagePart.content_type`,
    behaviour: "Text of another type than text/plain keeps its type.",
    async run(probe) {
      const parts = await echoed(probe, { content_type: "text/markdown", content: "# one" });
      const got = parts.find(({ content_type: type }) => type === "text/markdown");
      demand(got?.["content"] === "# one", `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:citation-kept",
    capability: "round-trip",
    commanded: true,
    source: `${SDK} models/models.py CitationMetadata`,
    behaviour: "A citation is kept on its part.",
    async run(probe) {
      const metadata = { kind: "citation", start_index: 0, end_index: 4, url: "https://source.example/", title: "The source" };
      const parts = await echoed(probe, { content_type: "text/plain", content: "as said", metadata });
      demand(hasMetadata(parts, metadata), `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:trajectory-kept",
    capability: "round-trip",
    commanded: true,
    source: `${SDK} models/models.py TrajectoryMetadata`,
    behaviour: "A trajectory step is kept on its part, with tool input and output.",
    async run(probe) {
      const tool = { tool_name: "look-up", tool_input: { word: "dot" }, tool_output: { found: true } };
      const metadata = { kind: "trajectory", message: "looked it up", ...tool };
      const parts = await echoed(probe, { content_type: "text/plain", content: "a step", metadata });
      demand(hasMetadata(parts, metadata), `came back as ${show(parts)}`);
    },
  },
  {
    key: "parts:unknown-metadata",
    capability: "edge-cases",
    commanded: true,
    source: `${SDK} models/models.py MessagePart.metadata`,
    behaviour: "Metadata of an undefined kind is rejected, or not returned where official clients would fail on it.",
    async run(probe) {
      for (const metadata of [{ kind: "mood" }, { url: "https://source.example/" }]) {
        const parts = [{ content_type: "text/plain", content: "conform: echo", metadata }];
        const got = await post(probe, "/runs", runBody(probe, "", { input: [{ role: "user", parts }] }));
        if (got.status === 200) demandRun(got.json, "the run");
        else demandRefusal(got, [400, 422], "invalid_input");
      }
    },
  },
  {
    key: "parts:without-content",
    capability: "edge-cases",
    source: `${SDK} models/models.py MessagePart`,
    behaviour: "A part with neither content nor a URL is accepted: it may carry only metadata.",
    async run(probe) {
      const metadata = { kind: "citation", url: "https://source.example/" };
      const parts = [
        { content_type: "text/plain", content: "hello" },
        { content_type: "text/plain", metadata },
      ];
      await run(probe, "", { input: [{ role: "user", parts }] });
    },
  },
];

/** Whether a part has this metadata. Null and additional members are ignored. */
function hasMetadata(parts: readonly JsonObject[], sent: JsonObject): boolean {
  const same = (got: unknown): boolean =>
    Object.entries(sent).every(([name, value]) => JSON.stringify((got as JsonObject)[name]) === JSON.stringify(value)); // an object, as checked below
  return parts.some(({ metadata }) => !isAbsent(metadata) && same(metadata));
}
