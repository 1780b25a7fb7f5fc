import { type Socket, SocketAddress } from "node:net";
import type { Maybe } from "../../envelope/index.js";

/** The PROXY protocol v2, §2.2: the signature is valid in no other protocol. */
const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const FIXED_BYTES = 16;
/** The address block and its extensions. Proxies send tens of bytes, with a client certificate's name some hundred. */
const MAX_BLOCK_BYTES = 4_096;

const COMMANDS = { local: 0x20, proxy: 0x21 } as const;

interface Family {
  readonly version: "ipv4" | "ipv6";
  readonly addressBytes: number;
}
/** Streams over IPv4 and IPv6. A TCP listener has no others. */
const FAMILIES: { readonly [code: number]: Family } = {
  17: { version: "ipv4", addressBytes: 4 },
  33: { version: "ipv6", addressBytes: 16 },
};

/** A parsed header. `source`: the caller's address; undefined for connections of the proxy itself (LOCAL). */
export interface ProxyHeader {
  readonly bytes: number;
  readonly source: Maybe<string>;
}

/** Parses the header at the start of a connection: more bytes are needed, or it is no valid header. */
export function parseProxyHeader(received: Buffer): ProxyHeader | "incomplete" | "invalid" {
  const compared = Math.min(received.length, SIGNATURE.length);
  if (!received.subarray(0, compared).equals(SIGNATURE.subarray(0, compared))) return "invalid";
  if (received.length < FIXED_BYTES) return "incomplete";
  const command = received.readUInt8(12);
  const family = FAMILIES[received.readUInt8(13)];
  const blockBytes = received.readUInt16BE(14);
  if ((command !== COMMANDS.local && command !== COMMANDS.proxy) || blockBytes > MAX_BLOCK_BYTES) return "invalid";
  const bytes = FIXED_BYTES + blockBytes;
  if (received.length < bytes) return "incomplete";
  // The block of a LOCAL header is skipped, whatever it is.
  if (command === COMMANDS.local) return { bytes, source: undefined };
  if (family === undefined) return "invalid";
  const { version, addressBytes } = family;
  const extensions = 2 * addressBytes + 4;
  if (blockBytes < extensions || !areExtensions(received.subarray(FIXED_BYTES + extensions, bytes))) return "invalid";
  return { bytes, source: addressIn(received.subarray(FIXED_BYTES, FIXED_BYTES + addressBytes), version) };
}

/** §2.2: type, length, value, to the last byte. */
function areExtensions(rest: Buffer): boolean {
  let at = 0;
  while (at + 3 <= rest.length) at += 3 + rest.readUInt16BE(at + 1);
  return at === rest.length;
}

function addressIn(bytes: Buffer, version: Family["version"]): string {
  if (version === "ipv4") return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  return new SocketAddress({ address: groups.join(":"), family: version }).address;
}

const NOTHING = Buffer.alloc(0);

/**
 * Reads the header that a trusted proxy must begin a connection with, and leaves what follows unread. Anything else, and silence,
 * ends the connection.
 */
export function takeProxyHeader(socket: Socket, firstByteMs: number, onHeader: (header: ProxyHeader) => void): void {
  let received: Buffer = NOTHING;
  const refuse = (): void => {
    cleanUp();
    socket.destroy();
  };
  const timer = setTimeout(refuse, firstByteMs);

  function cleanUp(): void {
    clearTimeout(timer);
    socket.off("readable", onReadable);
    socket.off("close", cleanUp);
    socket.off("error", ignore);
  }

  function onReadable(): void {
    for (let more: Buffer | null = socket.read(); more !== null; more = socket.read()) {
      received = received.length === 0 ? more : Buffer.concat([received, more]);
      const header = parseProxyHeader(received);
      if (header === "incomplete") continue;
      if (header === "invalid") refuse();
      else {
        cleanUp();
        if (received.length > header.bytes) socket.unshift(received.subarray(header.bytes));
        onHeader(header);
      }
      return;
    }
  }

  socket.on("readable", onReadable);
  socket.on("close", cleanUp);
  socket.on("error", ignore);
}

/** A socket error before the first byte needs no report. */
function ignore(): void {}

const SOURCE = Symbol("source of a proxied connection");
type ProxiedSocket = Socket & { [SOURCE]?: ProxyHeader };

/** Remembers whose connection a proxy forwards. */
export function setProxied(socket: ProxiedSocket, header: ProxyHeader): void {
  socket[SOURCE] = header;
}

/** Undefined if the connection has no PROXY header. */
export function proxiedBy(socket: ProxiedSocket): Maybe<ProxyHeader> {
  return socket[SOURCE];
}
