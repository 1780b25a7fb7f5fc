import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Modules of Node that a start of Koine does not pay for. An empty Node has loaded none of them. */
const LAZY = ["tls", "https", "http2", "worker_threads"];

test('import "koine" leaves TLS, HTTP/2 and threads to their first use', () => {
  // `moduleLoadList` is an internal list, which is not in the declarations.
  const script = `await import("koine"); console.log(JSON.stringify(process.moduleLoadList))`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const loaded: unknown = JSON.parse(output);
  expect(loaded).toContain("NativeModule http");
  for (const name of LAZY) expect(loaded).not.toContain(`NativeModule ${name}`);
});
