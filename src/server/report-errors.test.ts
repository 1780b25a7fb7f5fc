import { afterEach, describe, expect, test } from "vitest";
import { AgentError, agent, connect, DiscoveryCache, type Server, serve } from "../index.js";

let server: Server | undefined;
afterEach(() => server?.close());

/** What an agent's owner hears of when its agent ends like this. */
async function reportedBy(handle: Parameters<typeof agent>[0]["handle"]): Promise<readonly unknown[]> {
  const reported: unknown[] = [];
  server = await serve(agent({ name: "a", description: "d", handle }), { onError: (thrown) => reported.push(thrown) });
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache() });
  const answer = await peer.ask("hello").catch((thrown: unknown) => AgentError.from(thrown).message);
  expect(answer).not.toContain("bug");
  await peer.close();
  return reported;
}

describe("an error of an agent", () => {
  const bug = new Error("a bug of mine");
  test.each([
    [
      "thrown at once",
      () => {
        throw bug;
      },
    ],
    ["thrown later", async () => Promise.reject(bug)],
    [
      "thrown in a stream",
      async function* () {
        yield "half ";
        throw bug;
      },
    ],
  ])("%s is reported once, and its text is not sent to the caller", async (_, handle) => {
    expect(await reportedBy(handle)).toEqual([bug]);
  });

  test("that is an AgentError is not reported", async () => {
    expect(await reportedBy(async () => Promise.reject(new AgentError("unsupported", "not today")))).toEqual([]);
  });
});
