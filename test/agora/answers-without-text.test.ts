import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryArtifacts } from "../../src/artifacts/index.js";
import { dataPart, type JsonObject, type Part, textPart } from "../../src/envelope/index.js";
import { agent, type Server, serve } from "../../src/server/index.js";

const CHART: Part = { kind: "raw", bytes: new Uint8Array(4), mediaType: "image/png", name: "chart.png" };
const LINK: Part = { kind: "url", url: "https://files.example/report.pdf", mediaType: "application/pdf" };
const LARGE = "a line of a long report\n".repeat(100);

const ANSWERS: Record<string, string | readonly Part[]> = {
  raw: [CHART],
  url: [LINK],
  large: LARGE,
  mixed: [textPart("Here it is."), LINK, dataPart({ pages: 3 }), CHART],
};

const DOCUMENT =
  "---\nname: figures\ndescription: returns figures\nmultiround: false\n---\nThe answer is JSON: an object with n.";

let server: Server;
let hash: string;

beforeAll(async () => {
  const files = agent({
    name: "files",
    description: "answers with files",
    handle: async ({ text }) => ANSWERS[text] ?? "",
    skills: [
      {
        id: "figures",
        name: "Figures",
        description: "d",
        tags: [],
        outputModes: ["application/json"],
        inputModes: ["application/json"],
        document: DOCUMENT,
        handle: async ({ content }) => [
          dataPart({ n: 1 }),
          ...(JSON.stringify(content).includes("link") ? [LINK] : []),
          textPart("one figure"),
        ],
      },
    ],
  });
  server = await serve(files, {
    port: 0,
    artifacts: { store: createMemoryArtifacts({ now: Date.now, newId: () => crypto.randomUUID() }), inlineBytes: 1000 },
  });
  const listed = (await (await fetch(`${server.url}/.wellknown`)).json()) as JsonObject;
  hash = Object.keys(listed)[0] ?? "";
});

afterAll(() => server.close());

/** As the Python library sends: without the members of Koine. */
async function post(body: string, protocolHash: string | null = null): Promise<{ status: number; json: JsonObject }> {
  const response = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolHash, protocolSources: [], body }),
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

describe("a caller that reads only the body gets", () => {
  it("the address of a linked part", async () => {
    expect(await post("url")).toEqual({ status: 200, json: { status: "success", body: "https://files.example/report.pdf" } });
  });

  it("a link to a large part, which it can follow", async () => {
    const { status, json } = await post("large");
    expect(status).toBe(200);
    const followed = await fetch(String(json["body"]));
    expect(await followed.text()).toBe(LARGE);
  });

  it("an error for an answer of bytes", async () => {
    const { status, json } = await post("raw");
    expect(status).toBe(422);
    expect(json["status"]).toBe("error");
    expect(json["message"]).toBe(
      'the answer has no text, and Agora carries nothing else: "chart.png", image/png, 4 bytes; call this agent with another protocol',
    );
  });

  it("a line for every part, also for what is missing", async () => {
    const { json } = await post("mixed");
    expect(String(json["body"]).split("\n")).toEqual([
      "Here it is.",
      "https://files.example/report.pdf",
      '{"pages":3}',
      '[not included, because Agora carries text only: "chart.png", image/png, 4 bytes]',
    ]);
  });

  it("one JSON value or an error, where a document requires JSON", async () => {
    expect(await post('{"want":"figure"}', hash)).toEqual({ status: 200, json: { status: "success", body: '{"n":1}' } });
    const { status, json } = await post('{"want":"link"}', hash);
    expect(status).toBe(422);
    expect(json["message"]).toMatch("requires one JSON value, and the answer has these parts: data, url, text");
  });
});
