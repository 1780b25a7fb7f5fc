/** Authentication: JWT from an issuer and API keys, under TLS; tasks per caller, refusals in the audit log. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { AgentError, agent, type Credentials, connect, serve } from "koine";
import { anyOf, apiKeys, jwtTokens, openAuditFile } from "koine/auth";
import { selfSigned } from "./certificate.js";

// A token issuer: public keys at /keys, tokens for clients with a secret.
const SECRET = "secret-of-the-planner";
const { publicKey, privateKey } = await generateKeyPair("ES256");
const keys = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }] });
const issuerServer = createServer((request, response) => {
  response.setHeader("content-type", "application/json");
  request.resume();
  if (request.url === "/keys") response.end(keys);
  else if (request.headers.authorization !== `Basic ${btoa(`planner:${SECRET}`)}`) response.writeHead(401).end("{}");
  else
    void newToken("planner").then((token) =>
      response.end(JSON.stringify({ access_token: token, token_type: "Bearer", expires_in: 300 })),
    );
}).listen(0, "127.0.0.1");
await once(issuerServer, "listening");
const issuer = `http://127.0.0.1:${(issuerServer.address() as AddressInfo).port}`;

function newToken(subject: string): Promise<string> {
  const token = new SignJWT({ scope: "call" }).setProtectedHeader({ alg: "ES256", kid: "k1" }).setIssuer(issuer);
  return token.setAudience("vault").setSubject(subject).setExpirationTime("5m").sign(privateKey);
}

const folder = await mkdtemp(join(tmpdir(), "koine-identity-"));
const audit = openAuditFile(join(folder, "audit.log"), { onProblem: (error) => console.error(error.message) });
const tls = await selfSigned();
const vault = agent({
  name: "vault",
  description: "Names the caller",
  async *handle(_message, task) {
    yield task.working("looking");
    return `you are ${task.caller}`;
  },
});
const server = await serve(vault, {
  tls,
  audit,
  admission: anyOf(
    apiKeys(new Map([["ann", "key-of-ann-0123456789"]]), { location: "header", name: "X-Api-Key" }),
    jwtTokens({ issuer, audience: "vault", jwks: { url: `${issuer}/keys` }, requiredScopes: ["call"] }),
  ),
});

const call = (credentials: Credentials) => connect(server.url, { credentials: { ...credentials, tls: { ca: tls.cert } } });
const ann = await call({ apiKey: "key-of-ann-0123456789" });
const planner = await call({ oauth2: { clientId: "planner", clientSecret: SECRET, tokenUrl: `${issuer}/token` } });
const intruder = await call({ apiKey: "key-of-nobody-0123456789" });
try {
  assert.equal(await ann.ask("who?"), "you are ann");
  assert.equal(await planner.ask("who?"), `you are ${issuer}#planner`);

  // A task belongs to its owner. For other callers it does not exist.
  const hers = await ann.send("who?", { key: "one" });
  assert(hers.kind === "task");
  await assert.rejects(
    planner.getTask(hers.task.id),
    (thrown) => thrown instanceof AgentError && thrown.code === "task_not_found",
  );

  await assert.rejects(intruder.ask("who?"), (thrown) => {
    assert(thrown instanceof AgentError);
    console.log(`refused: ${thrown.message}`);
    return thrown.code === "unauthenticated";
  });
} finally {
  await Promise.all([ann.close(), planner.close(), intruder.close()]);
  await server.close();
  await audit.close();
  issuerServer.close();
}
const log = await readFile(join(folder, "audit.log"), "utf8");
const refusals = log.split("\n").filter((line) => line.includes('"refused"'));
console.log(`audit log: ${refusals.length} refusals`);
assert(refusals.some((line) => line.includes("unknown API key")));
assert(!log.includes("key-of-"), "no secret is in the log");
await rm(folder, { recursive: true });
