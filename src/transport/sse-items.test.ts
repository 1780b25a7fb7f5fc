import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "./limits.js";
import { END_OF_STREAM, sseItems } from "./sse-items.js";

const response = (body: string) => ({ status: 200, headers: {}, body });

test("gives the JSON of each event with its id, and says when the stream was not cut", async () => {
  const items: object[] = [];
  for await (const item of sseItems(response('id: 7\ndata: {"a":1}\n\ndata: 2\n\n'), DEFAULT_LIMITS)) items.push(item);
  expect(items).toEqual([
    { item: { a: 1 }, cursor: "7" },
    // The last id stays in force, as the standard of server-sent events has it.
    { item: 2, cursor: "7" },
    { item: END_OF_STREAM, cursor: undefined },
  ]);
});

test("refuses an event that is not JSON", async () => {
  const items = sseItems(response("data: no\n\n"), DEFAULT_LIMITS);
  await expect(items.next()).rejects.toMatchObject({
    code: "bad_peer",
    message: expect.stringContaining("an event of the stream"),
  });
});
