import { expect, test } from "vitest";
import { FieldMap } from "./field-map.js";

test.each(["constructor", "toString", "hasOwnProperty", "__proto__"])("no field is named %s until one is set", (name) => {
  const fields = new FieldMap();
  expect(fields[name]).toBeUndefined();
  fields[name] = "x";
  expect(fields[name]).toBe("x");
  expect(Object.keys(fields)).toEqual([name]);
});
