import { describe, expect, it } from "vitest";
import {
  ARRIVED_OVER_TLS,
  type Floor,
  floorName,
  floorNamed,
  floorOf,
  isEncryptedByArrival,
  NO_FLOOR,
  REQUIREMENTS,
  raiseFloor,
} from "./floor.js";

/** Every combination of requirements, with and without an arrival over TLS. */
function allFloors(): readonly Floor[] {
  const combinations = Array.from({ length: 16 }, (_, bits) =>
    REQUIREMENTS.filter((_name, index) => (bits & (1 << index)) !== 0),
  );
  return combinations.flatMap((names) => [floorOf(names), raiseFloor(floorOf(names), ARRIVED_OVER_TLS)]);
}

describe("the name of a floor", () => {
  it("stands for the same floor, and keeps apart what arrived over TLS from what was required", () => {
    for (const floor of allFloors()) {
      const read = floorNamed(floorName(floor) ?? "");
      expect(read).toEqual(floor);
      expect(isEncryptedByArrival(read)).toBe(isEncryptedByArrival(floor));
    }
  });

  it("is readable, and absent if nothing is required", () => {
    expect(floorName(NO_FLOOR)).toBeUndefined();
    expect(floorName(floorOf(["identity", "signed"]))).toBe("signed identity");
    expect(floorName(ARRIVED_OVER_TLS)).toBe("encrypted tls");
    expect(floorNamed("unheard-of")).toBe(NO_FLOOR);
  });
});
