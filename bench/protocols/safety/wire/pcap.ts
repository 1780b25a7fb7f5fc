/** Reads what `tcpdump -w` writes: enough of pcap, Ethernet, IPv4 and TCP for a capture of the loopback interface. */

const FILE_HEADER = 24;
const PACKET_HEADER = 16;
const ETHERNET_HEADER = 14;
const ETHERNET = 1;
const IPV4 = 0x0800;
const TCP = 6;
/** Little endian, with microseconds or nanoseconds: what tcpdump writes on the machines that Node runs on. */
const MAGICS = new Set([0xa1b2c3d4, 0xa1b23c4d]);

interface Segment {
  readonly seq: number;
  readonly bytes: Buffer;
}

/** The bytes of every direction of every TCP connection, in their order. Throws Error for what is no such capture. */
export function tcpStreams(capture: Buffer): readonly Buffer[] {
  if (capture.length < FILE_HEADER || !MAGICS.has(capture.readUInt32LE(0))) throw new Error("this is no capture of packets");
  if (capture.readUInt32LE(20) !== ETHERNET) throw new Error("the capture is of another kind of network");
  const flows = new Map<string, Segment[]>();
  for (let at = FILE_HEADER; at + PACKET_HEADER <= capture.length; ) {
    const length = capture.readUInt32LE(at + 8);
    const packet = capture.subarray(at + PACKET_HEADER, at + PACKET_HEADER + length);
    at += PACKET_HEADER + length;
    const read = segmentIn(packet);
    if (read === undefined) continue;
    const known = flows.get(read.flow);
    if (known === undefined) flows.set(read.flow, [read]);
    else known.push(read);
  }
  return [...flows.values()].map(joined);
}

/** Undefined for packets without TCP content. */
function segmentIn(packet: Buffer): (Segment & { readonly flow: string }) | undefined {
  if (packet.length < ETHERNET_HEADER + 40 || packet.readUInt16BE(12) !== IPV4) return undefined;
  const ip = packet.subarray(ETHERNET_HEADER);
  const headerLength = (ip.readUInt8(0) & 0x0f) * 4;
  if (ip.readUInt8(9) !== TCP || ip.length < headerLength + 20) return undefined;
  const tcp = ip.subarray(headerLength, Math.max(headerLength, ip.readUInt16BE(2)));
  if (tcp.length < 20) return undefined;
  const bytes = tcp.subarray((tcp.readUInt8(12) >> 4) * 4);
  if (bytes.length === 0) return undefined;
  const flow = `${ip.toString("hex", 12, 20)} ${tcp.toString("hex", 0, 4)}`;
  return { flow, seq: tcp.readUInt32BE(4), bytes };
}

/** By their numbers, which may wrap around; what was sent again is left out. */
function joined(segments: readonly Segment[]): Buffer {
  const first = segments[0]?.seq ?? 0;
  const inOrder = segments
    // A segment from before the first one seen has a number just below it.
    .map(({ seq, bytes }) => ({ at: (seq - first) | 0, bytes }))
    .sort((a, b) => a.at - b.at);
  const pieces: Buffer[] = [];
  let next = Number.NEGATIVE_INFINITY;
  for (const { at, bytes } of inOrder) {
    const fresh = bytes.subarray(Math.min(bytes.length, Math.max(0, next - at)));
    pieces.push(fresh);
    next = Math.max(next, at + bytes.length);
  }
  return Buffer.concat(pieces);
}
