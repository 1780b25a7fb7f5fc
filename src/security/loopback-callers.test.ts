import { expect, test } from "vitest";
import type { RequestHead } from "../transport/exchange.js";
import { bearerTokens } from "./admission.js";
import { anyOf } from "./any-of.js";
import { assertMayBind } from "./bind-rule.js";
import { loopbackCallers } from "./loopback-callers.js";

/** An admission by the head reads only these members. */
const from = (loopback: boolean, headers: { readonly [name: string]: string } = {}): RequestHead =>
  ({ connection: { loopback }, headers, rawHeaders: [] }) as unknown as RequestHead;

test("callers on this machine are known by the name, others are refused", () => {
  const admission = loopbackCallers("kit");
  expect(admission(from(true))).toMatchObject({ id: "loopback:kit", owner: "key:loopback:kit" });
  expect(() => admission(from(false))).toThrow("only callers on this machine");
});

test("a credential decides first, also a wrong one", async () => {
  const admission = anyOf(bearerTokens(new Map([["ann", "a-token-of-ann-0123456789"]])), loopbackCallers("kit"));
  expect(admission(from(true, { authorization: "Bearer a-token-of-ann-0123456789" }))).toMatchObject({ id: "ann" });
  expect(() => admission(from(true, { authorization: "Bearer another-token-0123456789" }))).toThrow("unknown bearer token");
  expect(admission(from(true))).toMatchObject({ id: "loopback:kit" });
});

test.each([{ host: "0.0.0.0" }, { host: "127.0.0.1", publicUrl: "https://agent.example" }, { host: "127.0.0.1", proxied: true }])(
  "is refused where others can reach the server: %j",
  (bind) => {
    expect(() => assertMayBind({ ...bind, admission: loopbackCallers("kit") })).toThrow("without authentication");
    expect(() => assertMayBind({ host: "127.0.0.1", admission: loopbackCallers("kit") })).not.toThrow();
  },
);
