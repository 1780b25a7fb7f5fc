import { afterEach, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type RemoteAgent, serve } from "../src/index.js";
import { bearerTokens } from "../src/public/auth.js";
import { Hook, ok } from "./push-hook.js";

/** Two callers of one server, on real sockets: the webhooks of one hang, those of the other are notified all the same. */

const TOKENS = { mallory: "mallory-token-0123456789", bob: "bob-token-0123456789" };
const PER_CALLER = 8;
/** More than the process notifies at once. */
const HANGING = 40;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function opened<T extends { close(): unknown }>(each: T): T {
  open.push(each);
  return each;
}

test("webhooks of one caller that hang take up its share only", async () => {
  const echo = agent({ name: "echo", description: "echoes", handle: () => "done" });
  const server = opened(
    await serve(echo, {
      admission: bearerTokens(new Map(Object.entries(TOKENS))),
      push: { allow: ["127.0.0.1"] },
      limits: { drainMs: 20 },
    }),
  );
  const caller = async (bearer: string): Promise<RemoteAgent> =>
    opened(await connect(server.url, { credentials: { bearer }, discoveryCache: new DiscoveryCache(), pin: "a2a@1.0" }));
  const [mallory, bob] = [await caller(TOKENS.mallory), await caller(TOKENS.bob)];
  const waiting: (() => void)[] = [];
  let hangs = true;
  const hanging = opened(
    await Hook.open((response, count) => void (hangs ? waiting.push(() => ok(response, count)) : ok(response, count))),
  );
  const quick = opened(await Hook.open());

  const tasks: string[] = [];
  for (let index = 0; index < HANGING; index++) tasks.push(await start(mallory, hanging.url));
  await expect.poll(() => waiting.length).toBe(PER_CALLER);
  await start(bob, quick.url);
  await expect.poll(() => quick.got.length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(waiting.length).toBe(PER_CALLER);

  // The others follow as soon as these are answered.
  hangs = false;
  for (const answer of waiting) answer();
  for (const taskId of tasks)
    await expect
      .poll(async () => (await mallory.pushes(taskId))[0]?.delivery?.state, { timeout: 10_000, interval: 5 })
      .toBe("waiting");
});

async function start(peer: RemoteAgent, url: string): Promise<string> {
  const event = await peer.send("go", { push: { taskId: "", id: "hook", url } });
  if (event.kind !== "task") throw new Error("a send with a webhook makes a task");
  return event.task.id;
}
