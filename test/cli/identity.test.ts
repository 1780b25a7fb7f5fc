import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

const ANNS_KEY = "key-of-ann-0123456789";
const TOMS_TOKEN = "token-of-tom-0123456789";
const CLIENT_SECRET = "secret-of-the-planner";
const AUDIENCE = "our-agent";

interface Issuer {
  readonly url: string;
  token(claims: { readonly sub: string; readonly scope?: string; readonly aud?: string }): Promise<string>;
  close(): void;
}

/** Keys at /keys, and at /token a token for the client with the secret. */
async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" };
  const token: Issuer["token"] = ({ sub, scope = "call", aud = AUDIENCE }) =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .setIssuer(url)
      .setAudience(aud)
      .setSubject(sub)
      .setExpirationTime("5m")
      .sign(privateKey);
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    response.setHeader("content-type", "application/json");
    if (request.url === "/keys") response.end(JSON.stringify({ keys: [jwk] }));
    else if (request.headers.authorization === `Basic ${btoa(`planner:${CLIENT_SECRET}`)}`)
      response.end(JSON.stringify({ access_token: await token({ sub: "planner" }), token_type: "Bearer", expires_in: 300 }));
    else response.writeHead(401).end('{"error":"invalid_client"}');
  }
  const server: Server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has one
  return { url, token, close: () => server.close() };
}

describe("several authentication methods at once", () => {
  let workspace: Workspace;
  let issuer: Issuer;
  let server: Serving;
  let log: string;

  beforeAll(async () => {
    workspace = await createWorkspace();
    issuer = await startIssuer();
    log = workspace.path("audit.log");
    const keys = await workspace.write("keys", `ann=${ANNS_KEY}\n`);
    const tokens = await workspace.write("tokens", `tom=${TOMS_TOKEN}\n`);
    const jwt = ["--jwt-issuer", issuer.url, "--jwks", `${issuer.url}/keys`, "--jwt-audience", AUDIENCE, "--jwt-scope", "call"];
    const more = ["--jwt-token-url", `${issuer.url}/token`, "--api-key-file", keys, "--token-file", tokens, "--audit", log];
    server = await serving([workspace.agent, ...jwt, ...more]);
  });
  afterAll(async () => {
    await server.stop();
    issuer.close();
    await workspace.clear();
  });

  const who = (env: { readonly [name: string]: string }, ...more: readonly string[]) =>
    koine(["send", server.url, "who", ...more], env);

  test("an API key, a static token, a JWT and client credentials each identify the caller", async () => {
    const signed = await issuer.token({ sub: "joe" });
    const client = ["--client-id", "planner", "--token-url", `${issuer.url}/token`];
    const answers = await Promise.all([
      who({ KOINE_API_KEY: ANNS_KEY }),
      who({ KOINE_TOKEN: TOMS_TOKEN }, "--protocol", "a2a@1.0/GRPC"),
      who({ KOINE_TOKEN: signed }),
      who({ KOINE_CLIENT_SECRET: CLIENT_SECRET }, ...client),
    ]);
    const owners = ["key:ann", "bearer:tom", `bearer:${issuer.url}#joe`, `bearer:${issuer.url}#planner`];
    expect(answers).toEqual(owners.map((owner) => ({ code: 0, stdout: `${owner}\n`, stderr: "" })));
  });

  test("missing or wrong credentials exit with 4 and a hint, and no secret is printed", async () => {
    const stray = await issuer.token({ sub: "joe", aud: "another-agent" });
    const client = ["--client-id", "planner", "--token-url", `${issuer.url}/token`];
    const [none, key, audience, secret, unasked] = await Promise.all([
      who({}),
      who({ KOINE_API_KEY: "key-of-nobody-0123456789" }),
      who({ KOINE_TOKEN: stray }),
      who({ KOINE_CLIENT_SECRET: "wrong-secret-0123" }, ...client),
      who({ KOINE_CLIENT_SECRET: CLIENT_SECRET }, "--client-id", "planner"),
    ]);
    for (const { code, stdout } of [none, key, audience, secret, unasked])
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(none.stderr).toContain("hint: To show it, set KOINE_API_KEY, or set KOINE_TOKEN, or give --client-id and --token-url");
    expect(key.stderr).toContain("unknown API key");
    expect(audience.stderr).toMatch(/meant for|audience/);
    expect(secret.stderr).toContain("invalid_client");
    // A secret is never sent to an address that only the card names.
    expect(unasked.stderr).toContain("the client secret is not sent there");
    for (const { stderr } of [key, audience, secret, unasked])
      for (const each of ["key-of-nobody", stray, "wrong-secret", CLIENT_SECRET]) expect(stderr).not.toContain(each);
  });

  test("the card lists the required credentials as text", async () => {
    const { stdout } = await koine(["card", "get", server.url]);
    expect(stdout).toContain("apiKey: an API key in the header X-Api-Key");
    expect(stdout).toContain(`oauth2: a bearer token from ${issuer.url}/token (call)`);
    expect(stdout).toContain("bearer: a bearer token");
  });

  test("the audit log is complete, can be followed, and reveals changes", async () => {
    const follower = startKoine(["audit", log, "--follow", "--event", "refused"]);
    const ended = outcomeOf(follower);
    const seenNew = seen(follower.stdout, /unknown bearer token/);
    await who({ KOINE_TOKEN: "token-of-nobody-at-all-1" });
    await seenNew;
    follower.kill("SIGINT");
    expect((await ended).code).toBe(0);

    const [read, verified] = await Promise.all([koine(["audit", log]), koine(["audit", log, "--verify"])]);
    expect(read.stdout).toContain("ann (key)");
    expect(read.stdout).toContain("unauthenticated: unknown API key");
    for (const secret of [ANNS_KEY, TOMS_TOKEN, "token-of-nobody"]) expect(read.stdout).not.toContain(secret);
    expect(verified).toMatchObject({ code: 0, stderr: "" });
    const [first = "", ...rest] = (await readFile(log, "utf8")).split("\n");
    const forged = workspace.path("forged.log");
    await writeFile(forged, [first, ...rest.slice(1)].join("\n"));
    const { code, stderr } = await koine(["audit", forged, "--verify"]);
    expect(code).toBe(1);
    expect(stderr).toContain("the chain is broken at 1 places, first at");
  });
});

test("an API key in the query, with a matching sample call", async () => {
  const workspace = await createWorkspace();
  const child = startKoine(["serve", workspace.agent, "--port", "0", "--try", "--api-key-in", "query:k"], {
    KOINE_API_KEYS: `ann=${ANNS_KEY}`,
  });
  const ended = outcomeOf(child);
  const answers = await seen(child.stderr, /Serving at (\S+)[\s\S]*Ctrl-C/);
  const [, url = ""] = /Serving at (\S+)/.exec(answers) ?? [];
  expect(answers).toContain("export KOINE_API_KEY=");
  expect(answers).toContain(`curl -s "${url}/a2a?k=$KOINE_API_KEY"`);
  expect(answers).toContain(` send ${url} "good morning" --protocol a2a@1.0/GRPC`);
  const { stdout } = await koine(["send", url, "who"], { KOINE_API_KEY: ANNS_KEY });
  expect(stdout).toBe("key:ann\n");
  child.kill("SIGTERM");
  await ended;
  await workspace.clear();
});

test("refuses to listen beyond loopback, or with incomplete authentication, by mistake", async () => {
  const workspace = await createWorkspace();
  const serve = (...more: readonly string[]) => koine(["serve", workspace.agent, "--port", "0", ...more]);
  const [everywhere, halfJwt, badKeys] = await Promise.all([
    serve("--host", "0.0.0.0"),
    serve("--jwt-audience", AUDIENCE),
    serve("--api-key-file", await workspace.write("bad", "no equals sign")),
  ]);
  await workspace.clear();
  expect(everywhere.code).toBe(2);
  expect(everywhere.stderr).toContain("refusing to listen on 0.0.0.0 without authentication");
  expect(halfJwt.code).toBe(2);
  expect(halfJwt.stderr).toContain("Give --jwt-issuer, --jwks and --jwt-audience.");
  expect(badKeys.code).toBe(2);
  expect(badKeys.stderr).toMatch(/error: \S+bad: entry 1/);
});
