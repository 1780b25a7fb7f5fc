import { expect, it } from "vitest";
import { openGateway } from "./gateway.js";
import { configFrom } from "./read-config.js";

/** Longer than the test may take: whoever waits for it is found out. */
const DRAIN_MS = 600_000;

it("closes while somebody looks at messages and a page is open: both hear the end", async () => {
  const document = {
    listen: { port: 0 },
    agents: [{ name: "one", upstream: "http://127.0.0.1:9" }],
    limits: { drainMs: DRAIN_MS },
  };
  const gateway = await openGateway(configFrom(document, { folder: "/nowhere", env: {} }));
  const looks = await Promise.all(["/koine/api/feed", "/koine/api/state/feed"].map((path) => fetch(gateway.url + path)));
  expect(looks.map(({ status }) => status)).toEqual([200, 200]);
  const ended = Promise.all(looks.map((look) => look.text()));
  await gateway.close();
  expect(await ended).toHaveLength(2);
}, 20_000);
