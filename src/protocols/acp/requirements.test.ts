import { describe, expect, test } from "vitest";
import { CONFORMANCE_AREAS } from "../requirement.js";
import { requirements } from "./requirements.js";

describe("requirements", () => {
  test("ids are unique and well formed", () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids.filter((id) => !/^acp:0\.2(:[\w-]+)+$/.test(id))).toEqual([]);
  });

  test("there are at least 150 for the released protocol, and 35 for the seed's endpoints", () => {
    const count = (binding: string): number => requirements.filter(({ wire }) => wire?.binding === binding).length;
    expect(count("REST")).toBeGreaterThanOrEqual(150);
    expect(count("PLAIN")).toBeGreaterThanOrEqual(35);
  });

  test.each(CONFORMANCE_AREAS)("%s is covered on both", (capability) => {
    const wires = new Set(requirements.filter((each) => each.capability === capability).map(({ wire }) => wire?.binding));
    expect([...wires].sort()).toEqual(["PLAIN", "REST"]);
  });

  test("each names its source and describes the behaviour in one sentence", () => {
    expect(requirements.filter(({ behaviour, source }) => !/^[A-Z0-9].*\.$/s.test(behaviour) || source.length < 5)).toEqual([]);
  });

  test("all are skipped for a server of another protocol", async () => {
    const subject = {
      url: "http://elsewhere.example",
      exchange: () => ({ status: 404, headers: { "content-type": "text/html" }, body: "<h1>no</h1>" }),
      headers: {},
      newId: () => crypto.randomUUID(),
    };
    const outcomes = await Promise.all(requirements.map((requirement) => requirement.check(subject)));
    expect(new Set(outcomes.map((outcome) => outcome?.skipped))).toEqual(
      new Set([
        "no BeeAI ACP server: neither GET /agents nor GET /ping is answered",
        "the server has none of the plain endpoints of the seed",
      ]),
    );
  });
});
