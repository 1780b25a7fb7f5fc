import { AgentError, type JsonObject } from "../../../envelope/index.js";
import type { CommandTools, ProtocolCommand } from "../../protocol.js";
import { fingerprintOf } from "./hash.js";
import { checkSize, DOCUMENT_BYTES, DocumentLibrary, type KnownDocument } from "./library.js";
import { textOfBytes } from "./sources.js";

const FILES = [{ name: "FILE", about: "a protocol document; its exact bytes are hashed", many: true }] as const;

/** The commands `koine agora protocol …`. */
export const commands: readonly ProtocolCommand[] = [
  {
    words: "protocol add",
    summary: "add protocol documents to the library of a server",
    arguments: FILES,
    examples: ["koine agora protocol add weather.txt --data ./state"],
    async run(given, tools) {
      // All files are read before the first is stored, so that an error leaves nothing half done.
      const texts: string[] = [];
      for (const path of given) texts.push(await readDocument(path, tools));
      const added: KnownDocument[] = [];
      for (const text of texts) added.push(await libraryOf(tools).add(text));
      return { text: added.map(({ hash, name }) => `${hash}  ${name}`).join("\n"), document: added.map(shown) };
    },
  },
  {
    words: "protocol list",
    summary: "list the protocol documents of the library",
    arguments: [],
    readOnly: true,
    examples: ["koine agora protocol list --data ./state"],
    async run(_given, tools) {
      const library = libraryOf(tools);
      const rows = await Promise.all((await library.list()).map((document) => rowOf(library, document)));
      return { text: rows.map(lineOf).join("\n"), document: rows };
    },
  },
  {
    words: "protocol show",
    summary: "show one protocol document of the library",
    arguments: [{ name: "HASH", about: "its SHA-1 in base64, as in the list" }],
    readOnly: true,
    examples: ["koine agora protocol show L9xl1shodRYEKdIIT3ydYkazG8M= --data ./state"],
    async run([hash = ""], tools) {
      const library = libraryOf(tools);
      const document = await library.get(hash);
      if (document === undefined) throw new AgentError("not_found", `no protocol document has the hash ${JSON.stringify(hash)}`);
      return { text: document.text, document: { ...(await rowOf(library, document)), text: document.text } };
    },
  },
  {
    words: "protocol hash",
    summary: "print the hashes of protocol documents",
    arguments: FILES,
    store: "none",
    examples: ["koine agora protocol hash weather.txt"],
    async run(given, tools) {
      const rows = [];
      for (const file of given) rows.push({ file, ...(await fingerprintOf(await readDocument(file, tools))) });
      const text = rows.map(({ file, sha1 }) => (rows.length === 1 ? sha1 : `${sha1}  ${file}`)).join("\n");
      return { text, document: rows };
    },
  },
];

function libraryOf({ records }: CommandTools): DocumentLibrary {
  return new DocumentLibrary(records, { now: () => Date.now() });
}

/** Reads a file as text, unchanged. */
async function readDocument(path: string, { readFile }: CommandTools): Promise<string> {
  const bytes = await readFile(path);
  if (bytes.byteLength > DOCUMENT_BYTES)
    throw new AgentError("too_large", `${path} has ${bytes.byteLength} bytes; a protocol document has at most ${DOCUMENT_BYTES}`);
  const text = textOfBytes(bytes);
  if (text === undefined) throw new AgentError("invalid_message", `${path} is not UTF-8 text`);
  if (text.trim() === "") throw new AgentError("invalid_message", `${path} is empty`);
  checkSize(text);
  return text;
}

function shown({ hash, sha256, name, description, multiround, sources, addedAt, learned }: KnownDocument): JsonObject {
  return { hash, sha256, name, description, multiround, sources, addedAt, learned };
}

async function rowOf(library: DocumentLibrary, document: KnownDocument) {
  const [uses, suitability] = await Promise.all([library.uses(document.hash), library.suitability(document)]);
  return { ...shown(document), uses, suitability };
}

function lineOf({ hash, name, description, uses, suitability, learned }: JsonObject): string {
  const origin = learned === true ? ", received in a message" : "";
  return `${hash}  ${name}: ${description}  (${uses} uses, suitability ${suitability}${origin})`;
}
