import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  closeCodeIn,
  errorOf,
  ordinary,
  read,
  type SessionServer,
  sessionServer,
  until,
  upgradeText,
  upgradeTo,
} from "../../../test/helpers/sessions.js";
import { Opened, type Raw, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { BaseSession } from "../base-session.js";
import type { Limits } from "../limits.js";
import { type Listening, listen } from "./listen.js";
import { poolLink } from "./pool.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

describe.each(["clear", "TLS"])("shutdown of a listener with sessions: %s", (kind) => {
  function serve(server: SessionServer, limits: Partial<Limits>): Promise<Listening> {
    return opened.serve(server.intake, limits, { tls: kind === "TLS" ? made.pair : undefined, onError: server.onError });
  }

  async function open({ url }: Listening): Promise<BaseSession> {
    const link = poolLink({ tls: { ca: made.authority.ca } });
    opened.add(() => link.close());
    return (await link.open?.(upgradeTo(`${url}/s`), [])) as BaseSession;
  }

  function dial(listening: Listening): Promise<Raw> {
    return opened.dial(listening, kind === "TLS" ? { ca: made.authority.ca, alpn: "http/1.1" } : undefined);
  }

  test("sessions without calls get 1001 at once, held ones when their last call ends", async () => {
    const server = sessionServer();
    const listening = await serve(server, { drainMs: 15_000 });
    const [idle, held] = [await open(listening), await open(listening)];
    await server.next();
    const served = await server.next();
    const releases = [served.hold(), served.hold()];
    const closing = listening.close();
    expect(await idle.closed).toEqual({ code: 1001, reason: "the server is shutting down", clean: true });
    releases[0]?.();
    // The call goes on in both directions.
    await held.send("question");
    expect(await read(served, 1)).toEqual(["question"]);
    await served.send("answer");
    expect(await held.frames.next()).toEqual({ done: false, value: "answer" });
    expect(await Promise.race([closing, delay(50, "open")])).toBe("open");
    await served.send("last");
    releases[1]?.();
    expect(await held.frames.next()).toEqual({ done: false, value: "last" });
    expect(await held.closed).toMatchObject({ code: 1001, clean: true });
    await closing;
  });

  test("sessions that stay held, and peers that do not answer, are disconnected after drainMs", async () => {
    const server = sessionServer();
    const listening = await serve(server, { drainMs: 50 });
    const held = await open(listening);
    const served = await server.next();
    served.hold();
    const { socket, closed } = await dial(listening);
    socket.write(upgradeText());
    await until(socket, "\r\n\r\n");
    const silent = await server.next();
    await listening.close();
    expect(await served.closed).toEqual({ code: 1006, reason: "", clean: false });
    expect(await silent.closed).toEqual({ code: 1001, reason: "the server is shutting down", clean: false });
    expect(closeCodeIn(await closed)).toBe(1001);
    expect(await held.closed).toMatchObject({ code: 1006 });
  });

  test("upgrades without a decision are refused, and refused ones do not delay the end", async () => {
    const server = sessionServer();
    let undecided = 0;
    const upgrade = (): Promise<never> => {
      undecided++;
      return new Promise(() => undefined);
    };
    const listening = await serve({ ...server, intake: { take: ordinary, upgrade } }, { drainMs: 100 });
    const pending = await dial(listening);
    pending.socket.write(upgradeText());
    const refused = await dial(listening);
    refused.socket.write(upgradeText({ version: "7" }));
    await until(refused.socket, "426");
    const opening = errorOf(open(listening));
    await expect.poll(() => undecided).toBe(2);
    await listening.close();
    expect(await pending.closed).toMatch(/^HTTP\/1.1 503 Service Unavailable\r\n.*retry-after: 1\r\n.*shutting down/s);
    expect(await opening).toMatchObject({ code: "unavailable", facts: { status: 503 } });
  });

  test("a listener whose sessions ended closes at once", async () => {
    const server = sessionServer();
    const listening = await serve(server, { drainMs: 15_000 });
    const session = await open(listening);
    session.close(1000, "");
    await (await server.next()).closed;
    await listening.close();
    expect(await errorOf(open(listening))).toMatchObject({ code: "unavailable" });
  });

  test("an upgrade on a connection that is still answered is refused while the server shuts down", async () => {
    const server = sessionServer();
    const tls = kind === "TLS" ? made.pair : undefined;
    const answers: (() => void)[] = [];
    const exchange = () =>
      new Promise<{ status: number; headers: object; body: string }>((resolve) => {
        answers.push(() => resolve({ status: 200, headers: {}, body: "slow" }));
      });
    const intake = { ...server.intake, take: () => ({ bodyBytes: 1, unadmitted: false, exchange: exchange as never }) };
    const listening = await listen(intake, { port: 0, tls });
    const { socket, closed } = await dial(listening);
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    await expect.poll(() => answers.length).toBe(1);
    const closing = listening.close();
    answers[0]?.();
    await until(socket, "slow");
    socket.write(upgradeText());
    expect(await closed).not.toContain("101 Switching");
    await closing;
    expect(server.heads).toEqual([]);
  });
});
