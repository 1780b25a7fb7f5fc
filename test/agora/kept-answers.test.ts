import { expect, it } from "vitest";
import { CancelSource } from "../../src/envelope/index.js";
import { KeptAnswers } from "../../src/protocols/agora/server/kept-answers.js";
import { createMemoryStore } from "../../src/tasks/index.js";

it("no caller fills the room for records with keys of its own", async () => {
  let now = 0;
  const { records } = createMemoryStore({ now: () => now });
  const kept = new KeptAnswers(
    () => records,
    () => now,
    2,
  );
  let asked = 0;
  const once = (owner: string, key: string): Promise<unknown> =>
    kept.once({ owner, key, said: ["x"], keepMs: undefined, cancel: new CancelSource() }, async () => ({
      body: `answer ${++asked}`,
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
