import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pushReceiver } from "../../src/index.js";
import { createWorkspace, koine, type Serving, serving, type Workspace } from "./koine.js";

const TOKEN = "token-of-ann-0123456789";
let workspace: Workspace;
beforeAll(async () => {
  workspace = await createWorkspace();
});
afterAll(() => workspace.clear());

test("serves a TypeScript agent from a folder without a module type", async () => {
  await workspace.write("word.ts", 'export const word: string = "hello";');
  const path = await workspace.write(
    "plain.ts",
    `import { word } from "./word";
     export const handle = (message: { readonly text: string }): string => word + " " + message.text;`,
  );
  const server = await serving([path]);
  const { stdout } = await koine(["send", server.url, "you"]);
  await server.stop();
  expect(stdout).toBe("hello you\n");
});

describe("signed cards", () => {
  let server: Serving;
  beforeAll(async () => {
    await Promise.all(["acme", "other"].map((name) => koine(["card", "key", "--out", workspace.path(name)])));
    const koineHere = pathToFileURL(resolve("src/index.ts")).href;
    const clerk = await workspace.write(
      "clerk.ts",
      `import { agent } from ${JSON.stringify(koineHere)};
       const extendedCard = () => ({ description: "Files secret things" });
       export default agent({ name: "clerk", description: "Files things", extendedCard, handle: () => "filed" });`,
    );
    server = await serving([clerk, "--card-key", workspace.path("acme.private.json")], { KOINE_TOKENS: `ann=${TOKEN}` });
  });
  afterAll(() => server.stop());

  test("an agent is called only if a trusted key signed its card", async () => {
    const send = (...more: readonly string[]) =>
      koine(["send", server.url, "hi", "--require-signed", ...more], { KOINE_TOKEN: TOKEN });
    const [trusted, untrusted, unsigned] = await Promise.all([
      send("--trust", workspace.path("acme.public.json")),
      send("--trust", workspace.path("other.public.json")),
      send(),
    ]);
    expect(trusted).toEqual({ code: 0, stdout: "filed\n", stderr: "" });
    expect(untrusted).toMatchObject({ code: 1, stdout: "" });
    expect(untrusted.stderr).toContain("but not by a trusted key");
    expect(unsigned.code).toBe(2);
    expect(unsigned.stderr).toContain("Name a key file with --trust");
  });

  test("a card file is verified, and a changed one is not", async () => {
    const text = await (await fetch(`${server.url}/.well-known/agent-card.json`)).text();
    const trust = ["--trust", workspace.path("acme.public.json")];
    const whole = await workspace.write("card.json", text);
    const changed = await workspace.write("changed.json", text.replace("Files things", "Eats things"));
    const [good, bad] = await Promise.all([
      koine(["card", "verify", whole, ...trust]),
      koine(["card", "verify", changed, ...trust]),
    ]);
    expect(good.code).toBe(0);
    expect(bad).toMatchObject({ code: 1, stdout: "" });
    expect(bad.stderr).toContain("the signature does not match");
  });

  test("the extended card requires authentication, and is signed too", async () => {
    const get = ["card", "get", server.url, "--extended", "--trust", workspace.path("acme.public.json"), "--require-signed"];
    const [known, unknown] = await Promise.all([koine(get, { KOINE_TOKEN: TOKEN }), koine(get)]);
    expect(known.stdout).toContain("Files secret things");
    expect(unknown.code).toBe(4);
  });

  test("a private key is readable by its owner only, and never overwritten", async () => {
    const secret = await readFile(workspace.path("acme.private.json"), "utf8");
    const again = await koine(["card", "key", "--out", workspace.path("acme")]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(await readFile(workspace.path("acme.private.json"), "utf8")).toBe(secret);
  });
});

test("a webhook on this machine is notified only if the server allows it", async () => {
  const received: string[] = [];
  let finished: () => void = () => undefined;
  const done = new Promise<void>((end) => {
    finished = end;
  });
  const receiver = pushReceiver({ token: "hook-token" }, (event) => {
    received.push(event.kind === "status" ? event.status.state : event.kind);
    if (received.at(-1) === "completed") finished();
  });
  const hook = createServer(receiver.listener).listen(0, "127.0.0.1");
  await once(hook, "listening");
  const address = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`; // a TCP server has one
  const [closed, open] = await Promise.all([serving([workspace.agent]), serving([workspace.agent, "--push-allow", "127.0.0.1"])]);
  const start = async (url: string): Promise<string> => (await koine(["send", url, "gate", "--no-wait"])).stdout.trim();
  const set = async (url: string) =>
    koine(["task", "push", "set", url, await start(url), address, "--id", "mine", "--hook-token-env", "HOOK"], {
      HOOK: "hook-token",
    });

  const refused = await set(closed.url);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/resolves to a loopback address[\s\S]*hint: .*--push-allow HOST/);
  const accepted = await set(open.url);
  expect(accepted).toMatchObject({ code: 0, stderr: "" });
  expect(accepted.stdout).toContain(`mine\t`);
  await workspace.openGate();
  await done;
  // Since the webhook was registered: the second chunk, and the end.
  expect(received.slice(-2)).toEqual(["artifact", "completed"]);
  await Promise.all([closed.stop(), open.stop()]);
  hook.close();
}, 40_000);
