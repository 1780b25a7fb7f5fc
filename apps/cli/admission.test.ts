import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bearerTokens, describeSecurity, openAdmission } from "../../src/public/auth.js";
import { makeAuthority } from "../../test/certificates.js";
import { type CallerAdmission, openAudit, readIdentity } from "./admission.js";
import { identityCredentials } from "./credentials.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-identity-"));
  await writeFile(join(folder, "keys"), "ann=key-of-ann-0123456789\n");
  await writeFile(join(folder, "short"), "ann=s3cret\n");
});
afterAll(() => rm(folder, { recursive: true }));

const open: CallerAdmission = { admission: openAdmission(), description: "everybody", warning: undefined };
const tokens: CallerAdmission = {
  admission: bearerTokens(new Map([["bob", "token-of-bob-0123456789"]])),
  description: "bob",
  warning: undefined,
};
const KEY_IN = { apiKeyIn: "header:X-Api-Key" };

describe("readIdentity()", () => {
  test("returns the static tokens when no other method is configured", async () => {
    expect(await readIdentity(KEY_IN, tokens, undefined, {})).toBe(tokens);
  });

  test("combines every method into one admission and one card", async () => {
    const options = {
      apiKeyIn: "query:key",
      apiKeyFile: join(folder, "keys"),
      jwtIssuer: "https://login.example",
      jwtAudience: ["https://agent.example"],
      jwks: "https://login.example/keys",
      jwtTokenUrl: "https://login.example/token",
      clientCa: "ca.pem",
    };
    const { admission, description } = await readIdentity(options, tokens, undefined, {});
    expect(describeSecurity(admission).anyOf).toEqual([{ mtls: [] }, { apiKey: [] }, { oauth2: [] }, { bearer: [] }]);
    expect(describeSecurity(admission).schemes["apiKey"]).toEqual({ apiKeySecurityScheme: { location: "query", name: "key" } });
    expect(description).toBe(
      "holders of a certificate by ca.pem; holders of a key: ann; holders of a token by https://login.example; bob",
    );
  });

  test("warns that others can read the key file", async () => {
    const apiKeyFile = join(folder, "keys");
    await chmod(apiKeyFile, 0o644);
    expect((await readIdentity({ ...KEY_IN, apiKeyFile }, tokens, undefined, {})).warning).toContain(`chmod 600 ${apiKeyFile}`);
    await chmod(apiKeyFile, 0o600);
    expect((await readIdentity({ ...KEY_IN, apiKeyFile }, tokens, undefined, {})).warning).toBeUndefined();
  });

  test("requires authentication as soon as one method is configured", async () => {
    const { admission } = await readIdentity(KEY_IN, open, undefined, { KOINE_API_KEYS: "ann=key-of-ann-0123456789" });
    expect([admission.open, describeSecurity(admission).anyOf]).toEqual([false, [{ apiKey: [] }]]);
  });

  test("names what is missing, and shows no secret", async () => {
    for (const [options, message] of [
      [{ ...KEY_IN, jwtIssuer: "https://login.example" }, "issuer, its keys and an audience"],
      [{ ...KEY_IN, jwtAudience: ["koine"] }, "issuer, its keys and an audience"],
      [{ ...KEY_IN, jwtScope: ["call"] }, "issuer, its keys and an audience"],
      [{ ...KEY_IN, jwtTenantClaim: "org" }, "issuer, its keys and an audience"],
      [{ ...KEY_IN, apiKeyFile: folder }, "is not a file with keys"],
      [{ apiKeyIn: "body:key", apiKeyFile: join(folder, "keys") }, "--api-key-in: unknown location"],
      [{ ...KEY_IN, apiKeyFile: join(folder, "none") }, "cannot be read (ENOENT)"],
      [{ ...KEY_IN, apiKeyFile: join(folder, "short") }, 'the token of "ann" is shorter'],
    ] as const) {
      const thrown = await readIdentity(options, open, undefined, {}).catch((each: unknown) => each);
      expect(thrown).toMatchObject({ exit: 2, message: expect.stringContaining(message) });
      expect(String(thrown)).not.toContain("s3cret");
    }
  });
});

test("openAudit() fails immediately for a path that cannot be written", () => {
  expect(openAudit({}, () => undefined)).toBeUndefined();
  expect(() => openAudit({ audit: join(folder, "no", "log") }, () => undefined)).toThrow("cannot be opened (ENOENT)");
});

describe("identityCredentials()", () => {
  test("takes secrets from the environment and certificates from files", async () => {
    const env = { KOINE_API_KEY: "k", MINE: "s" };
    const { ca: pem } = await makeAuthority();
    const ca = join(folder, "ca.pem");
    await writeFile(ca, pem);
    expect(await identityCredentials({ clientId: "id", clientSecretEnv: "MINE", tokenUrl: "https://l/t", ca }, env)).toEqual({
      apiKey: "k",
      oauth2: { clientId: "id", clientSecret: "s", tokenUrl: "https://l/t" },
      tls: { ca: pem },
    });
    expect(await identityCredentials({}, {})).toEqual({});
  });

  test("names what is missing", async () => {
    for (const options of [
      { apiKeyEnv: "NONE" },
      { clientId: "id" },
      { tokenUrl: "https://l/t" },
      { clientId: "id", clientSecretEnv: "S", tokenUrl: "l/t" },
      { cert: "c" },
      { ca: join(folder, "none") },
    ])
      await expect(identityCredentials(options, { S: "s" })).rejects.toMatchObject({ exit: 2 });
  });
});
