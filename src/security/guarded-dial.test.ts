import { describe, expect, test } from "vitest";
import { guardedDial } from "./guarded-dial.js";

const ADDRESSES: { readonly [host: string]: readonly string[] } = {
  "agent.example": ["93.184.216.34"],
  "other.example": ["93.184.216.35"],
  "inside.example": ["10.0.0.7"],
};
const resolve = async (host: string): Promise<readonly string[]> => ADDRESSES[host] ?? [];

describe("guardedDial()", () => {
  test("treats a longer port as another address", async () => {
    const { guard } = guardedDial("http://93.184.216.34:80", resolve);
    await expect(guard("http://127.0.0.1:808/")).rejects.toMatchObject({ code: "forbidden" });
    const { guard: other } = guardedDial("http://127.0.0.1:80", resolve);
    await expect(other("http://127.0.0.1:8080/")).resolves.toBeUndefined();
  });

  test("does not leave https for clear text", async () => {
    const { guard } = guardedDial("https://agent.example", resolve);
    await expect(guard("http://agent.example/a2a")).rejects.toMatchObject({ code: "forbidden", facts: { sent: "no" } });
    await expect(guard("http://other.example/a2a")).rejects.toThrow("plain text");
    await expect(guardedDial("http://agent.example", resolve).guard("http://other.example/")).resolves.toBeUndefined();
  });

  test("lets a public document lead to a public host and to nothing more private", async () => {
    const { guard } = guardedDial("https://agent.example", resolve);
    await expect(guard("https://other.example/a2a")).resolves.toBeUndefined();
    await expect(guard("https://inside.example/a2a")).rejects.toMatchObject({ code: "forbidden", facts: { sent: "no" } });
    await expect(guard("https://169.254.169.254/latest")).rejects.toMatchObject({ code: "forbidden" });
    await expect(guard("https://localhost.:9/")).rejects.toMatchObject({ code: "unavailable" });
  });

  test("allows an address at once that it allowed before, and no other beside it", async () => {
    const { guard } = guardedDial("https://agent.example", resolve);
    const address = "https://other.example/a2a";
    await guard(address);
    expect([guard(address), guard(address)]).toEqual([undefined, undefined]);
    for (const other of ["https://inside.example/a2a", "http://other.example/a2a", "https://other.example@inside.example/a2a"])
      await expect(guard(other)).rejects.toMatchObject({ code: "forbidden" });
    expect(() => guard("other.example")).toThrow("not a URL");
  });

  test("dials the address that was checked, also when the name means another one by then", async () => {
    let answer: readonly string[] = ["93.184.216.35"];
    const { guard, lookup } = guardedDial("https://agent.example", async (host) =>
      host === "rebound.example" ? answer : resolve(host),
    );
    await guard("https://rebound.example/");
    answer = ["127.0.0.1"];
    const dialled = await new Promise((done) => lookup("rebound.example", { all: false }, (_error, address) => done(address)));
    expect(dialled).toBe("93.184.216.35");
  });

  test("the configured name on another port keeps its checked address", async () => {
    let answer: readonly string[] = ["93.184.216.34"];
    const { guard, lookup } = guardedDial("http://rebound.example", async () => answer);
    await guard("http://rebound.example:6379/");
    answer = ["127.0.0.1"];
    const dialled = await new Promise((done) => lookup("rebound.example", { all: false }, (_error, address) => done(address)));
    expect(dialled).toBe("93.184.216.34");
  });

  test("dials no name that was not checked", async () => {
    const { lookup } = guardedDial("https://agent.example", resolve);
    const error = await new Promise((done) => lookup("other.example", { all: false }, (thrown) => done(thrown)));
    expect(error).toMatchObject({ code: "forbidden" });
  });
});
