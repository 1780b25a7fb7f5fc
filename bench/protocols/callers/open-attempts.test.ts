import { expect, it } from "vitest";
import type { Attempt } from "./client.js";
import { type AskedAttempt, OpenAttempts } from "./open-attempts.js";

const ANSWER: Attempt = { answer: "yes", stamps: {}, streamEvents: 0 };
const FAILED: Attempt = { error: { text: "gone", kind: "transient", isNetwork: true }, stamps: {}, streamEvents: 0 };

/** An attempt that ends when it is told. */
function attempt(agent: string) {
  let end: (last: Attempt) => void = () => undefined;
  const ended = new Promise<AskedAttempt>((resolve) => {
    end = (last) => resolve({ last, agent });
  });
  return { ended, end };
}

const never = new Promise<AskedAttempt>(() => undefined);

it("does not wait for an attempt longer than it may take, and takes its answer if it comes first", async () => {
  const open = new OpenAttempts();
  const [late, next] = [attempt("one"), attempt("two")];
  expect(await open.next(late.ended, 1)).toBeUndefined();
  late.end(ANSWER);
  expect(await open.next(next.ended, 60_000)).toEqual({ last: ANSWER, agent: "one" });
  const heard: string[] = [];
  const all = open.afterwards(await late.ended, ({ agent }) => heard.push(agent));
  next.end(ANSWER);
  await all;
  expect(heard).toEqual(["two"]);
});

it("hears an answer after the one that was taken, and no late failure", async () => {
  const open = new OpenAttempts();
  const [first, second, third] = [attempt("one"), attempt("two"), attempt("three")];
  expect(await open.next(first.ended, 1)).toBeUndefined();
  expect(await open.next(second.ended, 1)).toBeUndefined();
  second.end(FAILED);
  third.end(ANSWER);
  const taken = await open.next(third.ended, 60_000);
  expect(taken?.agent).toBe("three");
  const heard: string[] = [];
  const all = open.afterwards(taken, ({ agent }) => heard.push(agent));
  first.end(ANSWER);
  await all;
  expect(heard).toEqual(["one"]);
});

it("returns the end of an attempt that is not limited", async () => {
  const only = attempt("one");
  only.end(FAILED);
  expect(await new OpenAttempts().next(only.ended, undefined)).toEqual({ last: FAILED, agent: "one" });
  expect(await new OpenAttempts().next(never, 1)).toBeUndefined();
});
