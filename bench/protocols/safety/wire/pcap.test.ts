import { createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listenLocally } from "../controls/http.js";
import { sendBytes } from "../probes/raw-request.js";
import { sniff } from "./packet-capture.js";
import { tcpStreams } from "./pcap.js";
import { Tap } from "./tap.js";

/** A capture of the loopback interface by hand, after the file format of libpcap and RFCs 791 and 9293. */
function captureOf(...segments: readonly { readonly from: number; readonly seq: number; readonly text: string }[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt32LE(1, 20);
  return Buffer.concat([header, ...segments.map(packetOf)]);
}

function packetOf({ from, seq, text }: { readonly from: number; readonly seq: number; readonly text: string }): Buffer {
  const ethernet = Buffer.alloc(14);
  ethernet.writeUInt16BE(0x0800, 12);
  const ip = Buffer.alloc(20);
  ip.writeUInt8(0x45, 0);
  ip.writeUInt16BE(20 + 32 + text.length, 2);
  ip.writeUInt8(6, 9);
  const tcp = Buffer.alloc(32);
  tcp.writeUInt16BE(from, 0);
  tcp.writeUInt32BE(seq >>> 0, 4);
  tcp.writeUInt8(8 << 4, 12);
  // Shorter frames are padded: what follows the length that IP states is no content.
  const frame = Buffer.concat([ethernet, ip, tcp, Buffer.from(text), Buffer.from("\0\0")]);
  const record = Buffer.alloc(16);
  record.writeUInt32LE(frame.length, 8);
  record.writeUInt32LE(frame.length, 12);
  return Buffer.concat([record, frame]);
}

const texts = (capture: Buffer) => tcpStreams(capture).map(String);

describe("a capture of packets", () => {
  it("is read as one stream for each direction, in the order of their numbers, without repetitions", () => {
    const capture = captureOf(
      { from: 1, seq: 100, text: "one " },
      { from: 2, seq: 7, text: "answer" },
      { from: 1, seq: 108, text: "three" },
      { from: 1, seq: 104, text: "two " },
      { from: 1, seq: 104, text: "two th" },
      { from: 1, seq: 100, text: "" },
    );
    expect(texts(capture)).toEqual(["one two three", "answer"]);
  });

  it("follows numbers that wrap around", () => {
    expect(texts(captureOf({ from: 1, seq: 0xfffffffe, text: "abc" }, { from: 1, seq: 1, text: "def" }))).toEqual(["abcdef"]);
  });

  it("is cut off without harm, and refused if it is something else", () => {
    const capture = captureOf({ from: 1, seq: 1, text: "whole" }, { from: 1, seq: 6, text: "half" });
    expect(texts(capture.subarray(0, -30))).toEqual(["whole"]);
    expect(() => tcpStreams(Buffer.from("no capture at all, only text"))).toThrow("no capture of packets");
  });
});

describe("the network", () => {
  const { PATH } = process.env;
  afterEach(() => {
    process.env["PATH"] = PATH;
  });

  const sniffed = async (text: string) => {
    const server = createServer((socket) => socket.on("error", () => undefined).on("data", () => socket.end("heard")));
    const tap = await Tap.open();
    try {
      tap.target = await listenLocally(server);
      return await sniff([tap], async () => {
        await sendBytes(tap.port, Buffer.from(text));
        await sendBytes(tap.port, Buffer.from("the last"));
      });
    } finally {
      tap.close();
      server.close();
    }
  };

  it("is captured while something is sent, to the last packet", async () => {
    const { bytes } = await sniffed("first ".repeat(10));
    const streams = bytes.toString().split("\0").filter(Boolean);
    expect(streams.toSorted()).toEqual(["first ".repeat(10), "heard", "heard", "the last"]);
  });

  it("is tapped where packets cannot be captured, with the reason", async () => {
    process.env["PATH"] = "";
    const { by, because, bytes } = await sniffed("in clear");
    expect([by, because]).toEqual(["tap", expect.stringContaining("tcpdump cannot capture here: spawn tcpdump ENOENT")]);
    expect(bytes.toString()).toContain("in clear");
  });
});
