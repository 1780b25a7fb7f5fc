import { expect, it } from "vitest";
import { openGateway } from "./gateway.js";
import { configFrom } from "./read-config.js";

/** Longer than the test timeout, so that waiting for it fails the test. */
const DRAIN_MS = 600_000;

it("closing the gateway ends open message and state feeds", async () => {
  const document = {
    listen: { port: 0 },
    agents: [{ name: "one", upstream: "http://127.0.0.1:9" }],
    limits: { drainMs: DRAIN_MS },
  };
  const gateway = await openGateway(configFrom(document, { folder: "/nowhere", env: {} }));
  const feeds = await Promise.all(
    ["/koine/api/feed", "/koine/api/state/feed"].map((path) =>
      fetch(`${gateway.admin?.url}${path}`, { headers: { "x-koine-token": gateway.admin?.token ?? "" } }),
    ),
  );
  expect(feeds.map(({ status }) => status)).toEqual([200, 200]);
  const ended = Promise.all(feeds.map((feed) => feed.text()));
  await gateway.close();
  expect(await ended).toHaveLength(2);
}, 20_000);
