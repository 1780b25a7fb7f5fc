import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { pythonFor } from "./python.js";

/** The vectors of the ANP session, computed again by the other implementation. */

const FIXTURES = new URL("../../src/protocols/anp/session/fixtures/", import.meta.url);
const python = pythonFor("anp-1.0.7");

test.skipIf(python === undefined)("the script of the vectors computes the file that our tests read", () => {
  const script = fileURLToPath(new URL("make-vectors.py", FIXTURES));
  const computed = execFileSync(python ?? "", ["-B", script], { encoding: "utf8" });
  expect(JSON.parse(computed)).toEqual(JSON.parse(readFileSync(new URL("session.json", FIXTURES), "utf8")));
});
