import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import {
  errorOf,
  limitsOf,
  ordinary,
  read,
  type SessionServer,
  sessionServer,
  upgradeTo,
} from "../../../test/helpers/sessions.js";
import { Opened } from "../../../test/helpers/sockets.js";
import type { BaseSession } from "../base-session.js";
import type { Intake } from "../exchange.js";
import { poolLink } from "./pool.js";
import { requestListener } from "./request-listener.js";
import { type UpgradeListener, upgradeListener } from "./upgrade-listener.js";

const opened = new Opened();
afterEach(() => opened.close());

/** A server of Node's own, with a mount below `/agents` and something else beside it. */
async function mounted(
  intake: Intake,
  options: Parameters<typeof upgradeListener>[1] = {},
): Promise<{ url: string; upgrades: UpgradeListener; others: string[] }> {
  const own = { limits: limitsOf(), basePath: "/agents", ...options };
  const upgrades = upgradeListener(intake, own);
  const others: string[] = [];
  const server = createServer(requestListener(intake, own));
  server.on("upgrade", (req: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (upgrades(req, socket, head)) return;
    others.push(req.url ?? "");
    socket.end("HTTP/1.1 418 Other\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  opened.add(() => server.close());
  opened.add(() => upgrades.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, upgrades, others };
}

async function open(url: string): Promise<BaseSession> {
  const link = poolLink({ limits: limitsOf() });
  opened.add(() => link.close());
  return (await link.open?.(upgradeTo(url), [])) as BaseSession;
}

describe("upgradeListener", () => {
  test("serves sessions below the mount point, beside its requests", async () => {
    const server = sessionServer();
    const { url } = await mounted(server.intake);
    const session = await open(`${url}/agents/s?q`);
    const served = await server.next();
    expect(served.request).toMatchObject({ path: "/s", query: "q", target: `${url}/agents/s?q` });
    await session.send("hi");
    expect(await read(served, 1)).toEqual(["hi"]);
    expect(await (await fetch(`${url}/agents/s`)).text()).toBe("GET /s 0");
  });

  test("leaves everything else to the server", async () => {
    const server: SessionServer = sessionServer();
    const { url, others } = await mounted(server.intake, { claims: (path) => path.startsWith("/s") });
    for (const path of ["/elsewhere", "/agents/other"]) {
      expect(await errorOf(open(url + path))).toMatchObject({ facts: { status: 418 } });
    }
    const h2c = await fetch(`${url}/agents/s`, { headers: { upgrade: "h2c" } }).catch((thrown: unknown) => thrown);
    expect(h2c).toBeDefined();
    expect(others).toEqual(["/elsewhere", "/agents/other"]);
    expect(server.heads).toEqual([]);
    const without = await mounted({ take: ordinary });
    expect(await errorOf(open(`${without.url}/agents/s`))).toMatchObject({ facts: { status: 418 } });
    expect(without.others).toEqual(["/agents/s"]);
  });

  test("close ends idle sessions with 1001, held ones after their call or drainMs", async () => {
    const server = sessionServer();
    const { url, upgrades } = await mounted(server.intake, { limits: limitsOf({ drainMs: 10_000 }) });
    const [idle, held] = [await open(`${url}/agents/s`), await open(`${url}/agents/s`)];
    await server.next();
    const release = (await server.next()).hold();
    const closing = upgrades.close();
    expect(await idle.closed).toMatchObject({ code: 1001, clean: true });
    expect(await errorOf(open(`${url}/agents/s`))).toMatchObject({ code: "unavailable", facts: { status: 503 } });
    expect(await Promise.race([closing, delay(50, "open")])).toBe("open");
    release();
    expect(await held.closed).toMatchObject({ code: 1001 });
    await closing;

    const other = sessionServer();
    const short = await mounted(other.intake);
    const stuck = await open(`${short.url}/agents/s`);
    (await other.next()).hold();
    await short.upgrades.close();
    expect(await stuck.closed).toMatchObject({ code: 1006 });
  });
});
