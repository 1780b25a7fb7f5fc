import { Agent, get } from "node:http";
import { expect, test } from "vitest";
import { isLoopbackAddress } from "./loopback.js";
import { listen } from "./node/index.js";

test("isLoopbackAddress() accepts loopback socket addresses, and no lookalikes", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) expect(isLoopbackAddress(address)).toBe(true);
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "127.0.0.1.example", "128.0.0.1", "", undefined])
    expect(isLoopbackAddress(address)).toBe(false);
});

test("a forwarded request is not local, whatever its socket address", async () => {
  const server = await listen(({ connection }) => ({ status: 200, headers: {}, body: String(connection.loopback) }), { port: 0 });
  const asked = async (headers: Record<string, string>) => (await fetch(server.url, { headers })).text();
  const proxies = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "via",
  ];
  try {
    expect(await asked({})).toBe("true");
    expect(await Promise.all(proxies.map((name) => asked({ [name]: "1" })))).toEqual(proxies.map(() => "false"));
  } finally {
    await server.close();
  }
});

test("a proxy forwards some requests of a connection and sends others itself: each is judged alone", async () => {
  const server = await listen(
    ({ connection }) => ({ status: 200, headers: {}, body: `${connection.remote} ${connection.loopback}` }),
    { port: 0 },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<unknown>();
  const asked = (headers: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      get(server.url, { agent, headers }, (response) => {
        sockets.add(response.socket);
        response.setEncoding("utf8").on("data", resolve);
      }).on("error", reject);
    });
  try {
    const forwarded = { "x-forwarded-for": "203.0.113.7" };
    expect([await asked({}), await asked(forwarded), await asked({}), await asked(forwarded)]).toEqual([
      "127.0.0.1 true",
      "127.0.0.1 false",
      "127.0.0.1 true",
      "127.0.0.1 false",
    ]);
    expect(sockets.size).toBe(1);
  } finally {
    agent.destroy();
    await server.close();
  }
});
