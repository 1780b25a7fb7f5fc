import { expect, test } from "vitest";
import {
  floorName,
  floorOf,
  type Part,
  type PushConfig,
  type Requirement,
  SEALED_TYPE,
  type TaskEvent,
} from "../envelope/index.js";
import type { PolicyNote } from "../policies/index.js";
import type { PinnedUrl } from "../security/index.js";
import { WebhookFloor } from "./webhook-floor.js";

const sealed: Part = { kind: "raw", bytes: new Uint8Array([1]), mediaType: SEALED_TYPE };
const clear: Part = { kind: "text", text: "in clear" };
const configOf = (...required: Requirement[]): PushConfig => ({
  taskId: "t",
  id: "h",
  url: "",
  floor: floorName(floorOf(required)),
});
const artifact = (...parts: Part[]): TaskEvent => ({
  kind: "artifact",
  taskId: "t",
  contextId: "c",
  artifact: { id: "a", parts },
  append: false,
  last: true,
  head: undefined,
  cursor: undefined,
});
const at = (url: string, address: string): PinnedUrl => ({
  url,
  hostname: "",
  addresses: [{ address, family: 4 }],
  class: "public",
});
const HTTPS = at("https://hooks.example/", "203.0.113.7");
const PLAIN = at("http://hooks.example/", "203.0.113.7");
const PRIVATE = at("http://10.0.0.7/", "10.0.0.7");
const LOCAL = at("http://127.0.0.1/", "127.0.0.1");

test.each<readonly [Requirement, PinnedUrl, boolean, boolean]>([
  ["encrypted", HTTPS, false, true],
  ["encrypted", LOCAL, false, true],
  ["encrypted", PRIVATE, false, false],
  ["encrypted", PLAIN, true, false],
  ["identity", HTTPS, false, true],
  ["identity", LOCAL, true, false],
  ["signed", HTTPS, false, false],
  ["signed", HTTPS, true, true],
  ["end-to-end", PLAIN, false, true],
])("a webhook for calls that are %s at %o, signed: %s, is allowed: %s", (required, target, signs, allowed) => {
  const notes: PolicyNote[] = [];
  const floor = new WebhookFloor({ signs, notes: (note) => void notes.push(note) });
  expect(floor.ofWebhook({ config: configOf(required), owner: "bearer:ann" }, target)?.code).toBe(
    allowed ? undefined : "downgrade_refused",
  );
  expect(notes.length).toBe(allowed ? 0 : 1);
});

test.each<readonly [string, TaskEvent, boolean]>([
  ["sealed content", artifact(sealed), true],
  ["content in clear", artifact(clear), false],
  ["both", artifact(sealed, clear), false],
])("end to end: %s", async (_, event, allowed) => {
  const floor = new WebhookFloor({ signs: false, notes: undefined });
  const config = configOf("encrypted", "end-to-end");
  const refused = await floor.ofNotification({ config, owner: "bearer:ann", seq: 1, event, task: async () => undefined }, PLAIN);
  expect(refused?.code).toBe(allowed ? undefined : "downgrade_refused");
});

test("without a floor everything is allowed", async () => {
  const floor = new WebhookFloor({ signs: false, notes: undefined });
  expect(floor.ofWebhook({ config: configOf(), owner: "bearer:ann" }, PLAIN)).toBe(undefined);
});
