import { expect, it } from "vitest";
import { CancelSource } from "../../src/envelope/index.js";
import { AnswerCache } from "../../src/protocols/agora/server/answer-cache.js";
import { createMemoryStore } from "../../src/tasks/index.js";

it("limits the stored answers per caller", async () => {
  let now = 0;
  const { records } = createMemoryStore({ now: () => now });
  const kept = new AnswerCache(
    () => records,
    () => now,
    2,
  );
  let requests = 0;
  const once = (owner: string, key: string): Promise<unknown> =>
    kept.once({ owner, key, identity: ["x"], keepMs: undefined, cancel: new CancelSource() }, async () => ({
      body: `answer ${++requests}`,
      state: undefined,
    }));
  await once("a", "1");
  await once("a", "2");
  await expect(once("a", "3")).rejects.toMatchObject({ code: "overloaded" });
  expect(await once("a", "1")).toMatchObject({ body: "answer 1" });
  expect(await once("b", "3")).toMatchObject({ body: "answer 3" });
  now = 24 * 60 * 60 * 1000;
  expect(await once("a", "3")).toMatchObject({ body: "answer 4" });
});
