import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/**
 * `JSON.parse` of a few megabytes of empty objects takes seconds, and nothing else runs meanwhile. Text of a caller, peer or webhook goes
 * through `readJson` or `NestedJson`, which count its values first. These files parse other text.
 */
const PARSES: { readonly [file: string]: string } = {
  "src/transport/json.ts": "readJson itself",
  "src/transport/refused-upgrade.ts": "REFUSAL_BYTES of a refusal",
  "src/security/identity/identity-file.ts": "a file of the user",
  "src/security/identity/repeated-member.ts": "one string literal",
  "src/security/json-canonical.ts": "one string literal",
  "src/security/client-certificates.ts": "one string literal",
  "src/telemetry/capture/secrets.ts": "one string literal",
  "src/protocols/a2a/client/raw-result.ts": "one string literal",
  "src/protocols/anp/session/hello.ts": "helloBytes of a handshake",
  "src/protocols/anp/legacy-session/handshake.ts": "helloBytes of a handshake",
  "src/protocols/sage/node/dev-chain.ts": "a file of this package",
  "src/telemetry/capture/first-characters.ts": "one string literal",
  "src/security/card-signature.ts": "a document of our own",
  "src/security/signing-key.ts": "a key that the operator configured",
  "src/security/audit-entry.ts": "our own audit log",
  "src/security/token-endpoint.ts": "a token, within headerBytes",
  "src/security/jwt-tokens.ts": "a token, within headerBytes",
  "src/bridge/upstream-credentials-seal.ts": "sealed by this gateway",
  "src/artifacts/disk-record.ts": "our own records",
  "src/artifacts/redis-store.ts": "our own records",
  "src/artifacts/upload.ts": "OFFER_BYTES of a document",
  "src/envelope/ute.ts": "the caller of parseUte bounds its text",
  "src/router/forms/document.ts": "a file of the user",
  "src/router/evidence/weights.ts": "a file of this package",
  "src/router/embeddings/runtime.ts": "a file of this package",
  "src/router/embeddings/read-spans.ts": "a file of this package",
};
/** Stores read what they wrote; codecs of `koine/protocols` and conformance checks read what their user gives them. */
const OWN = [/^src\/tasks\/stores\//, /\/send-codec\.ts$/, /^src\/protocols\/[^/]+\/requirements\//];

test("text of others is parsed only after its values were counted", () => {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts")).map((name) => `src/${name}`);
  const parsing = files.filter((file) => /(?<!\/[/*].*)JSON\.parse\(/.test(readFileSync(file, "utf8")));
  const others = parsing.filter((file) => !OWN.some((folder) => folder.test(file)));
  expect(others.sort()).toEqual(Object.keys(PARSES).sort());
});
