import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "../../apps/gateway/config-problem.js";
import { prepare } from "../../apps/gateway/prepare.js";
import { configFrom, parseConfig, readConfig } from "../../apps/gateway/read-config.js";
import { configJsonSchema } from "../../apps/gateway/schema-document.js";

/** The problems of a text, without the file name. */
async function problemsIn(text: string, env: NodeJS.ProcessEnv = {}): Promise<readonly string[]> {
  try {
    await parseConfig(text, { name: "koine.yaml", folder: "/nowhere", env });
    return [];
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return thrown.message.split("\n").map((line) => line.replace("koine.yaml:", ""));
  }
}

const AGENT = "agents:\n  - name: one\n    upstream: http://127.0.0.1:9\n";

describe("profile: recommended", () => {
  const SECURED = `profile: recommended\n${AGENT}auth: { tokens: { env: T } }\naudit: log\n`;

  it("sets smaller limits, and those of the document win", async () => {
    const text = `${SECURED}limits: { h2Streams: 7 }\n`;
    const { document } = await parseConfig(text, { name: "koine.yaml", folder: "/nowhere", env: {} });
    expect(document.limits).toMatchObject({ bodyBytes: 4 * 1024 * 1024, h2Streams: 7 });
    expect(document.taskLimits).toMatchObject({ runningTasksPerOwner: 50 });
  });

  it("lacks authentication and an audit log in the smallest file", async () => {
    expect(await problemsIn(`profile: recommended\n${AGENT}`)).toEqual([
      expect.stringContaining("auth lacks what profile recommended requires, authentication of callers"),
      expect.stringContaining("audit lacks what profile recommended requires, an audit log"),
    ]);
  });
});

describe("configuration problems are reported with line and column", () => {
  it.each([
    ["invalid YAML", "agents: [", "1:10: the configuration is not valid YAML"],
    ["an empty file", "", "1:1: agents is missing"],
    ["a list instead of an object", "- a\n", "1:1: the configuration must be an object, not a list"],
    ["an unknown member with a near one", `${AGENT}stroe: memory\n`, "4:1: stroe is unknown; did you mean store?"],
    [
      "an unknown member deep inside",
      `${AGENT}    policies:\n      retry: { trys: 3 }\n`,
      "5:16: agents[0].policies.retry.trys is unknown; did you mean tries?",
    ],
    ["a value of another kind", `${AGENT}listen:\n  port: high\n`, "5:9: listen.port must be a number, not text"],
    ["a number out of range", `${AGENT}listen:\n  port: 70000\n`, "5:9: listen.port must be at most 65535"],
    ["a value that is not allowed", `${AGENT}    mode: adopted\n`, "4:11: agents[0].mode must be one of adopt, relay"],
    [
      "an invalid URL",
      "agents:\n  - name: one\n    upstream: ftp://x\n",
      "3:15: agents[0].upstream must be an http or https URL",
    ],
    [
      "both upstream and upstreams",
      `${AGENT}    upstreams: [{ id: a, url: http://127.0.0.1:9 }]\n`,
      "2:5: agents[0] must have either upstream or upstreams",
    ],
    ["neither upstream nor upstreams", "agents:\n  - name: one\n", "2:5: agents[0] must have either upstream or upstreams"],
    [
      "the same name twice",
      `${AGENT}  - name: one\n    upstream: http://127.0.0.1:8\n`,
      "4:11: agents[1].name is a duplicate: another agent is named one",
    ],
    ["an unknown protocol of the listener", `${AGENT}as: [a2aa]\n`, "4:6: as[0] names unknown protocol a2aa; did you mean a2a?"],
    [
      "an unknown version of a pin",
      `${AGENT}    pin: a2a@9\n`,
      "4:10: agents[0].pin names unknown version 9 of a2a; available: 1.0, 0.3",
    ],
    [
      "a public address without authentication",
      `${AGENT}listen:\n  publicUrl: https://agents.example\n`,
      "5:14: listen.publicUrl accepts remote callers without authentication: configure auth, or set openToEverybody: true, or remove it",
    ],
    [
      "a trusted proxy that is no address",
      `${AGENT}listen:\n  trustedProxies: { addresses: [proxy.example] }\n`,
      '5:19: listen.trustedProxies is invalid: trustedProxies.addresses has "proxy.example", which is neither an IP address nor a network such as 10.0.0.0/8',
    ],
    [
      "options of the page that moved",
      `${AGENT}page: { look: admitted }\n`,
      "4:7: page must be true or false: its token is admin.token, and page.look is admin.readers",
    ],
    [
      "metrics for loopback, which a proxy would open to everybody",
      `${AGENT}metrics: loopback\n`,
      "4:10: metrics must be true (at /metrics of the admin listener), false, or admitted (also on the callers' port, for admitted callers)",
    ],
    [
      "metrics for admitted callers without authentication",
      `${AGENT}metrics: admitted\n`,
      "4:10: metrics would be public: no authentication is configured under auth",
    ],
    ["metrics without a listener", `${AGENT}metrics: true\nadmin: false\n`, "4:10: metrics requires admin, which is off"],
    [
      "a port of an admin listener that is the callers'",
      `${AGENT}admin: { listener: callers, port: 9 }\n`,
      "4:35: admin.port belongs to a listener of its own, not to the callers' port",
    ],
    [
      "its own address as upstream",
      `listen: { port: 9 }\n${AGENT}`,
      "4:15: agents[0].upstream is the address of this gateway, which would call itself in a loop",
    ],
    [
      "remote callers without authentication",
      `${AGENT}listen: { host: 0.0.0.0 }\n`,
      "4:17: listen.host accepts remote callers without authentication",
    ],
    [
      "a durable store without a secret",
      `${AGENT}store: { sqlite: ./data }\n`,
      "4:8: store is persistent and requires a persistent secret",
    ],
    [
      "a card to be signed without keys",
      `${AGENT}    card: rewrite+resign\n`,
      "4:11: agents[0].card requires cardKeys to sign with",
    ],
    ["a setting that no protocol has", `${AGENT}settings: { acp: { colour: red } }\n`, "4:28: settings.acp.colour is unknown"],
    ["a page without inspect", `${AGENT}inspect: false\npage: true\n`, "5:7: page requires inspect, which is off"],
    [
      "a selection policy with a single upstream",
      `${AGENT}    policies: { select: weighted }\n`,
      "4:25: agents[0].policies.select requires more than one upstream",
    ],
    [
      "an unset variable",
      `${AGENT}metrics: \${NOPE}\n`,
      "4:10: metrics requires the environment variable NOPE, which is not set",
    ],
    [
      "a variable inside a longer text",
      `agents:\n  - name: one\n    upstream: http://\${HOST}/\n`,
      "3:15: agents[0].upstream uses a variable inside a longer text",
    ],
  ])("%s", async (_what, text, expected) => {
    const lines = await problemsIn(text);
    expect(
      lines.some((line) => line.startsWith(expected)),
      lines.join("\n"),
    ).toBe(true);
  });

  it("all problems at once, in file order", async () => {
    const lines = await problemsIn(`listen: { port: -1 }\nagents:\n  - name: "?"\n    upstream: x\nstore: disk\n`);
    expect(lines.map((line) => line.split(" ", 2).join(" "))).toEqual([
      "1:17: listen.port",
      "3:11: agents[0].name",
      "4:15: agents[0].upstream",
      "5:8: store",
    ]);
  });

  it("JSON is read like YAML", async () => {
    expect(await problemsIn('{\n  "agents": [{ "name": "one" }]\n}')).toEqual([
      "2:14: agents[0] must have either upstream or upstreams",
    ]);
  });
});

describe("values from the environment", () => {
  it("replace whole values, are typed as in the file, and have defaults", async () => {
    const text = `listen: { port: "\${PORT}", host: "\${HOST:-127.0.0.1}" }\n${AGENT}    strict: \${STRICT}\n`;
    const { document, agents } = await parseConfig(text, { name: "x", folder: "/", env: { PORT: "8123", STRICT: "true" } });
    expect(document.listen).toEqual({ port: 8123, host: "127.0.0.1" });
    expect(agents[0]?.strict).toBe(true);
  });
});

describe("secrets", () => {
  const SECRET = "s3cr3t-never-to-be-seen";
  let folder = "";
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "koine-config-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("in the file are rejected without quoting them", async () => {
    const lines = await problemsIn(
      `${AGENT}    credentials:\n      bearer: ${SECRET}\n      headers: { authorization: ${SECRET} }\nsecret: ${SECRET}\nstore: { redis: redis://me:${SECRET}@h }\n`,
    );
    expect(lines.map((line) => line.split(" ", 2).join(" "))).toEqual([
      "5:15: agents[0].credentials.bearer",
      "6:33: agents[0].credentials.headers.authorization",
      "7:9: secret",
    ]);
    expect(lines.join("\n")).not.toContain(SECRET);
    const password = await problemsIn(`${AGENT}secret: { env: S }\nstore: { redis: redis://me:${SECRET}@h }\n`);
    expect(password).toEqual(["5:17: store.redis holds a password: take the whole URL from an environment variable"]);
  });

  it("in a URL are rejected without quoting them", async () => {
    const lines = await problemsIn(`agents:\n  - name: one\n    upstream: http://me:${SECRET}@127.0.0.1\n`);
    expect(lines).toEqual(["3:15: agents[0].upstream must not contain a user or password: use credentials"]);
  });

  it("are read from variables and files; missing ones are reported at their position", async () => {
    await writeFile(join(folder, "key"), `${SECRET}\n`, { mode: 0o600 });
    const file = join(folder, "koine.yaml");
    await writeFile(
      file,
      `${AGENT}    credentials:\n      bearer: { env: TOKEN }\n      apiKey: { file: key }\nauth:\n  tokens: { file: nowhere }\n`,
    );
    const config = await readConfig(file, { TOKEN: SECRET });
    const refused: unknown = await prepare(config).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(ConfigError);
    expect(String(refused)).toContain(`${file}:8:19: auth.tokens.file references nowhere, which cannot be read (ENOENT)`);
    const { agents } = await prepare(configFrom({ ...config.document, auth: undefined }, { folder, env: { TOKEN: SECRET } }));
    expect(agents[0]?.credentials[0]).toMatchObject({ bearer: SECRET, apiKey: SECRET });
  });

  it("that are too short are rejected without quoting them", async () => {
    const config = configFrom(
      { agents: [{ name: "one", upstream: "http://127.0.0.1:9" }], secret: { env: "S" } },
      { folder, env: { S: "short-one" } },
    );
    await expect(prepare(config)).rejects.toThrow("secret is too short: at least 16 bytes are required");
    await expect(prepare(config)).rejects.not.toThrow("short-one");
  });

  it("readable by other users cause a warning", async () => {
    await writeFile(join(folder, "key"), `${SECRET}\n`, { mode: 0o644 });
    const document = { agents: [{ name: "one", upstream: "http://127.0.0.1:9", credentials: { bearer: { file: "key" } } }] };
    const { warnings } = await prepare(configFrom(document, { folder, env: {} }));
    expect(warnings).toEqual(["key is readable by other users: chmod 600 key"]);
  });
});

describe("defaults apply to every agent", () => {
  it("unless an agent overrides them, policy by policy", async () => {
    const { agents } = configFrom(
      {
        defaults: { strict: true, timeoutMs: 1000, policies: { retry: true, breaker: { openMs: 5 } } },
        agents: [
          { name: "one", upstream: "http://127.0.0.1:9" },
          { name: "two", upstream: "http://127.0.0.1:9", strict: false, policies: { breaker: false } },
        ],
      },
      { folder: "/", env: {} },
    );
    expect(agents.map(({ strict, timeoutMs, policies }) => ({ strict, timeoutMs, policies }))).toEqual([
      { strict: true, timeoutMs: 1000, policies: { retry: true, breaker: { openMs: 5 } } },
      { strict: false, timeoutMs: 1000, policies: { retry: true, breaker: false } },
    ]);
  });
});

describe("the published schema", () => {
  it("knows the members of the check, and allows values from the environment", () => {
    const text = JSON.stringify(configJsonSchema());
    for (const member of ["upstreams", "openToEverybody", "failureShare", "taskLimits"]) expect(text).toContain(`"${member}"`);
    expect(text).toContain(String.raw`^\\$\\{[A-Za-z_]`);
  });
});
