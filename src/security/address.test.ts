import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { networkOf } from "../transport/ip-address.js";
import { type AddressClass, addressClass, isAsPublic } from "./address.js";

// IANA special-purpose address registries
const TABLE: readonly (readonly [string, AddressClass | undefined])[] = [
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "loopback"],
  ["::1", "loopback"],
  ["[::1]", "loopback"],
  ["::", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["[::ffff:7f00:1]", "loopback"],
  ["64:ff9b::127.0.0.1", "loopback"],
  ["2002:7f00:1::", "loopback"],
  ["10.0.0.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["100.64.0.1", "private"],
  ["100.127.255.255", "private"],
  ["198.18.0.1", "private"],
  ["::ffff:10.1.2.3", "private"],
  ["fc00::1", "private"],
  ["fdff:ffff::1", "private"],
  ["64:ff9b:1::a00:1", "private"],
  ["169.254.169.254", "reserved"],
  ["::ffff:169.254.169.254", "reserved"],
  ["100.100.100.200", "reserved"],
  ["fd00:ec2::254", "reserved"],
  ["fd20:ce::254", "reserved"],
  ["fd00:42::42", "reserved"],
  ["fd00:ec3::254", "private"],
  ["168.63.129.16", "reserved"],
  ["168.63.129.17", "public"],
  ["0.0.0.1", "reserved"],
  ["192.0.0.192", "reserved"],
  ["192.0.2.1", "reserved"],
  ["198.51.100.1", "reserved"],
  ["203.0.113.9", "reserved"],
  ["192.88.99.1", "reserved"],
  ["224.0.0.1", "reserved"],
  ["239.255.255.255", "reserved"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["::7f00:1", "reserved"],
  ["::2", "reserved"],
  ["fe80::1%eth0", "reserved"],
  ["febf::1", "reserved"],
  ["fec0::1", "reserved"],
  ["ff02::1", "reserved"],
  ["2001::1", "reserved"],
  ["2001:db8::1", "reserved"],
  ["3fff::1", "reserved"],
  ["100::1", "reserved"],
  ["8.8.8.8", "public"],
  ["1.0.0.1", "public"],
  ["11.0.0.1", "public"],
  ["126.255.255.255", "public"],
  ["128.0.0.1", "public"],
  ["100.63.255.255", "public"],
  ["100.128.0.0", "public"],
  ["172.15.0.1", "public"],
  ["172.32.0.1", "public"],
  ["169.253.0.1", "public"],
  ["223.255.255.255", "public"],
  ["2606:4700:4700::1111", "public"],
  ["2001:4860:4860::8888", "public"],
  ["::ffff:8.8.8.8", "public"],
  ["localhost", undefined],
  ["", undefined],
  ["1.2.3", undefined],
  ["1.2.3.256", undefined],
  ["01.2.3.4", undefined],
  ["0x7f.0.0.1", undefined],
  ["1.2.3.4.5", undefined],
  ["1::2::3", undefined],
  ["1:2:3:4:5:6:7", undefined],
  ["1:2:3:4:5:6:7:8:9", undefined],
  ["1:2:3:4:5:6:7::8", undefined],
  ["::12345", undefined],
  [":::", undefined],
  ["::ffff:1.2.3", undefined],
  ["::1.2.3.4:5", undefined],
];

describe("addressClass()", () => {
  for (const [address, want] of TABLE)
    test(`${address || "nothing"} is ${want ?? "no address"}`, () => {
      expect(addressClass(address)).toBe(want);
    });

  test("takes any text", () => {
    const text = fc.oneof(
      fc.string(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.string({ unit: fc.constantFrom("0", "f", ":", ".", "[", "%") }),
    );
    fc.assert(
      fc.property(text, (address) => {
        expect([undefined, "reserved", "loopback", "private", "public"]).toContain(addressClass(address));
      }),
    );
  });

  test("classifies every address", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(addressClass(address)).toBeDefined();
      }),
    );
  });
});

test("isAsPublic() orders reserved, loopback, private, public", () => {
  const classes = ["reserved", "loopback", "private", "public"] as const;
  const got = classes.map((to) => classes.map((from) => (isAsPublic(to, from) ? "yes" : "no")).join(" "));
  expect(got).toEqual(["yes no no no", "yes yes no no", "yes yes yes no", "yes yes yes yes"]);
});

test("networkOf() is the part a caller cannot change freely", () => {
  expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe(networkOf("2001:db8:1:2::ffff"));
  expect(networkOf("2001:db8:1:2::1")).not.toBe(networkOf("2001:db8:1:3::1"));
  expect(networkOf("::ffff:192.0.2.1")).not.toBe(networkOf("::ffff:192.0.2.2"));
  for (const address of ["192.0.2.1", "memory", ""]) expect(networkOf(address)).toBe(address);
});
