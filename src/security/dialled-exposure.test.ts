import { describe, expect, it } from "vitest";
import { DialledExposure } from "./dialled-exposure.js";

/** A name whose addresses change. */
function resolving(...answers: readonly (readonly string[])[]) {
  let asked = 0;
  const exposure = new DialledExposure(async () => answers[Math.min(asked++, answers.length - 1)] ?? []);
  const dial = (options: { readonly family?: number; readonly all?: boolean } = { all: true }) =>
    new Promise<unknown>((resolve, reject) =>
      exposure.lookup("inner", options, (error, found) => (error === null ? resolve(found) : reject(error))),
    );
  return { exposure, dial };
}

describe("DialledExposure", () => {
  it.each([
    [["127.0.0.1", "::1"], "loopback"],
    [["127.0.0.1", "10.0.0.7"], "private"],
    [["10.0.0.7", "192.0.3.1"], "public"],
    [["169.254.169.254"], "public"],
  ] as const)("takes the most public of %j: %s", async (addresses, expected) => {
    expect(await resolving(addresses).exposure.of("inner")).toBe(expected);
  });

  it("knows what was dialled, without asking again", async () => {
    const { exposure, dial } = resolving(["10.0.0.7"], ["192.0.3.1"]);
    expect(await dial()).toEqual([{ address: "10.0.0.7", family: 4 }]);
    expect(exposure.of("inner")).toBe("private");
    expect(exposure.of("192.0.3.1")).toBe("public");
  });

  it("does not dial a public address for a name that was private, once; then it counts as public", async () => {
    const { exposure, dial } = resolving(["10.0.0.7"], ["192.0.3.1"]);
    expect(await exposure.of("inner")).toBe("private");
    await expect(dial()).rejects.toMatchObject({ code: "downgrade_refused", facts: { sent: "no" } });
    expect(exposure.of("inner")).toBe("public");
    expect(await dial({ family: 4 })).toBe("192.0.3.1");
  });

  it("returns addresses of the requested family only", async () => {
    expect(await resolving(["10.0.0.7", "fd00::7"]).dial({ family: 6 })).toBe("fd00::7");
    await expect(resolving(["10.0.0.7"]).dial({ family: 6, all: true })).rejects.toThrow("inner has no address of family 6");
  });
});
