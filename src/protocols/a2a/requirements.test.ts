import { describe, expect, test } from "vitest";
import { CONFORMANCE_AREAS } from "../requirement.js";
import { requirements } from "./requirements.js";

describe("requirements", () => {
  test("ids are unique and well formed", () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.length).toBe(new Set(ids).size);
    expect(ids.filter((id) => !/^a2a:(card|1\.0|0\.3)(:[\w-]+)+$/.test(id))).toEqual([]);
  });

  test("there are at least ninety for each binding of 1.0", () => {
    const count = (prefix: string): number => requirements.filter(({ id }) => id.startsWith(prefix)).length;
    expect(count("a2a:1.0:jsonrpc:")).toBeGreaterThanOrEqual(90);
    expect(count("a2a:1.0:rest:")).toBeGreaterThanOrEqual(90);
    expect(count("a2a:1.0:grpc:")).toBeGreaterThanOrEqual(90);
  });

  test.each(CONFORMANCE_AREAS)("%s is covered on every wire", (capability) => {
    const wires = new Set(
      requirements.filter((each) => each.capability === capability).map(({ wire }) => `${wire?.version} ${wire?.binding}`),
    );
    expect([...wires]).toEqual(
      expect.arrayContaining(["1.0 JSONRPC", "1.0 HTTP+JSON", "1.0 GRPC", "0.3 JSONRPC", "0.3 HTTP+JSON", "0.3 GRPC"]),
    );
  });

  test("each names its source and describes the behaviour in one sentence", () => {
    expect(requirements.filter(({ behaviour, source }) => !/^[A-Z0-9].*\.$/s.test(behaviour) || source.length < 5)).toEqual([]);
  });
});
