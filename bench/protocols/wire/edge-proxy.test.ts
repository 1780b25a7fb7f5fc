import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { EdgeProxy } from "./edge-proxy.js";

const opened: (() => unknown)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

/** A server that echoes, a proxy before it, and a client at the proxy. */
async function open(): Promise<{ readonly proxy: EdgeProxy; readonly client: Socket; readonly server: Server }> {
  const server = createServer((socket) => void socket.pipe(socket).on("error", () => undefined));
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    }),
  );
  const proxy = new EdgeProxy(1);
  proxy.target = port;
  const client = connect(await proxy.listen(0), "127.0.0.1");
  client.on("error", () => undefined);
  opened.push(
    () => server.close(),
    () => proxy.close(),
    () => client.destroy(),
  );
  return { proxy, client, server };
}

function received(client: Socket, bytes: number): Promise<string> {
  let text = "";
  return new Promise((resolve) =>
    client.on("data", (piece: Buffer) => {
      text += piece.toString();
      if (text.length >= bytes) resolve(text);
    }),
  );
}

describe("the proxy of an edge", () => {
  it("passes bytes on in both directions, and counts them", async () => {
    const { proxy, client } = await open();
    const answer = received(client, 5);
    client.write("hello");
    expect(await answer).toBe("hello");
    expect(proxy.counts).toEqual({ connections: 1, sent: 5, received: 5 });
  });

  it("delays without changing the order", async () => {
    const { proxy, client } = await open();
    proxy.conditions = { toAgentMs: 30 };
    const answer = received(client, 10);
    const from = performance.now();
    client.write("first");
    setTimeout(() => client.write("later"), 5);
    expect(await answer).toBe("firstlater");
    // Timers may be a millisecond early, never more.
    expect(performance.now() - from).toBeGreaterThanOrEqual(29);
  });

  it("holds everything while partitioned, and delivers it afterwards", async () => {
    const { proxy, client } = await open();
    const first = received(client, 1);
    client.write("1");
    await first;
    proxy.conditions = { partition: true };
    const rest = received(client, 4);
    await new Promise<void>((resolve) => client.write("2345", () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(proxy.counts).toMatchObject({ sent: 1, received: 1 });
    proxy.conditions = {};
    expect(await rest).toBe("2345");
  });

  it("cuts connections by its chance", async () => {
    const { proxy, client } = await open();
    proxy.conditions = { loss: 1 };
    const closed = new Promise((resolve) => client.once("close", resolve));
    client.write("lost");
    await closed;
    expect(proxy.counts).toMatchObject({ sent: 0, received: 0 });
  });

  it("says that a port is taken", async () => {
    const { server } = await open();
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(new EdgeProxy(1).listen(port)).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});
