import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";

/** Replicas killed and frozen while they work, for a few seconds; `npm run test:chaos` runs it for longer. */
test("replicas keep every promise while they are killed and frozen", { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, ["--import", "tsx", "test/chaos/main.ts", "--short"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const [code] = await once(child, "close");
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^chaos: 2 passed, 0 failed$/m) });
});
