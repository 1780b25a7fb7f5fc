import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Modules of Node that a start of Koine does not pay for. */
const LAZY = ["tls", "https", "http2", "worker_threads"].map((name) => `NativeModule ${name}`);

function loadedBy(specifier: string): readonly string[] {
  // `moduleLoadList` is an internal list, which is not in the declarations.
  const script = `await import(${JSON.stringify(specifier)}); console.log(JSON.stringify(process.moduleLoadList))`;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
}

test('import "koine" leaves TLS, HTTP/2 and threads to their first use', () => {
  const loaded = loadedBy("koine");
  expect(loaded).toContain("NativeModule http");
  // Newer versions of Node load TLS with HTTP.
  const withHttp = loadedBy("node:http");
  expect(LAZY.filter((name) => loaded.includes(name))).toEqual(LAZY.filter((name) => withHttp.includes(name)));
});
