import type { JsonObject } from "../../../envelope/index.js";
import { DecodeProblem, readArray, readInteger, readObject, readString, readText } from "../../../transport/fields.js";
import type { NewKey, Operation, RegistryKeyKind } from "./registry.js";

/** Operations as JSON, with bytes in hexadecimal. */

const KINDS: ReadonlySet<string> = new Set<RegistryKeyKind>(["Ed25519", "X25519", "secp256k1"]);
const HEX = /^0x(?:[0-9a-f]{2})*$/;

export function toHex(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}`;
}

export function readHex(value: unknown, path: string): Uint8Array {
  const text = readString(value, path);
  if (!HEX.test(text)) throw new DecodeProblem(path, "must be 0x and pairs of hexadecimal digits in lower case");
  return Uint8Array.from(Buffer.from(text.slice(2), "hex"));
}

export function writeOperation(operation: Operation): JsonObject {
  switch (operation.kind) {
    case "register":
      return { ...operation, keys: operation.keys.map(writeKey) };
    case "addKey":
    case "rotate":
      return { ...operation, key: writeKey(operation.key) };
    default:
      return { ...operation };
  }
}

export function readOperation(value: unknown, path: string): Operation {
  const members = readObject(value, path);
  const text = (name: string): string => readText(members[name], `${path}.${name}`);
  const kind = text("kind") as Operation["kind"]; // checked below
  switch (kind) {
    case "commit":
      return { kind, commitment: text("commitment") };
    case "register":
      return {
        kind,
        keys: readArray(members["keys"], `${path}.keys`, readKey),
        endpoint: readString(members["endpoint"], `${path}.endpoint`),
        salt: text("salt"),
      };
    case "addKey":
      return { kind, key: readKey(members["key"], `${path}.key`) };
    case "rotate":
      return {
        kind,
        old: text("old"),
        key: readKey(members["key"], `${path}.key`),
        overlapSeconds: readInteger(members["overlapSeconds"], `${path}.overlapSeconds`),
      };
    case "revoke":
      return { kind, name: text("name") };
    case "setEndpoint":
      return { kind, endpoint: readString(members["endpoint"], `${path}.endpoint`) };
    case "deactivate":
      return { kind };
    default:
      throw new DecodeProblem(`${path}.kind`, "is not an operation of a registry");
  }
}

function writeKey({ name, kind, bytes, proof }: NewKey): JsonObject {
  return { name, kind, bytes: toHex(bytes), proof: toHex(proof) };
}

function readKey(value: unknown, path: string): NewKey {
  const members = readObject(value, path);
  const kind = readText(members["kind"], `${path}.kind`);
  if (!KINDS.has(kind)) throw new DecodeProblem(`${path}.kind`, `must be one of ${[...KINDS].join(", ")}`);
  return {
    name: readString(members["name"], `${path}.name`),
    kind: kind as RegistryKeyKind, // in the set
    bytes: readHex(members["bytes"], `${path}.bytes`),
    proof: readHex(members["proof"], `${path}.proof`),
  };
}
