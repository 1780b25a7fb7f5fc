import { describe, expect, test } from "vitest";
import { adminLine, pageAddress, pageLine, readAdmin } from "./admin.js";

const TOKEN = "the-token-of-the-operator";
const PAGE = `http://127.0.0.1:9/koine/#token=${TOKEN}`;
const address = (generated: boolean) => ({ url: "http://127.0.0.1:9", token: TOKEN, generated });

describe("what is printed at start", () => {
  test("has the token if this process made it: nobody else knows it", () => {
    expect(adminLine(address(true))).toBe(`http://127.0.0.1:9  token ${TOKEN}`);
    expect(pageLine(PAGE, address(true))).toBe(PAGE);
  });

  test("has no token that the operator configured", () => {
    expect(adminLine(address(false))).toBe("http://127.0.0.1:9  token as configured");
    expect(pageLine(PAGE, address(false))).toBe("http://127.0.0.1:9/koine/  token as configured");
    expect(pageAddress(PAGE, address(false))).toBe("http://127.0.0.1:9/koine/");
  });
});

describe("--admin-host", () => {
  const tls = { cert: "c", key: "k" };
  test("beyond this machine has the certificate of the server, or is refused, or allowed by name", async () => {
    const host = { adminHost: "0.0.0.0" };
    expect(await readAdmin(host, { wanted: true, tls })).toMatchObject({ host: "0.0.0.0", tls });
    await expect(readAdmin(host, { wanted: true, tls: undefined })).rejects.toThrow("--admin-host 0.0.0.0 needs TLS");
    expect(await readAdmin({ ...host, adminClearText: true }, { wanted: true, tls })).not.toHaveProperty("tls");
  });

  test("on this machine needs none", async () => {
    expect(await readAdmin({ adminHost: "127.0.0.1" }, { wanted: false, tls })).not.toHaveProperty("tls");
    expect(await readAdmin({}, { wanted: false, tls })).toBeUndefined();
  });
});
