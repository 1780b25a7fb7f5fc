import { open } from "node:fs/promises";
import { basename } from "node:path";
import type { Json, Part } from "../../src/index.js";
import { textPart } from "../../src/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { mediaTypeOf } from "./media-type.js";

/** Limit of files and stdin together. Larger content should be sent as a URL. */
const ATTACHED_BYTES = 64 * 1024 * 1024;

export interface ContentOptions {
  readonly file?: readonly string[];
  readonly data?: Json;
}

type Stdin = AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };

/** Text, files and data as the parts of one message. Without text, or with `-`, the text is read from stdin. */
export async function readContent(text: string | undefined, options: ContentOptions, stdin: Stdin): Promise<readonly Part[]> {
  const { file = [], data } = options;
  const parts: Part[] = [];
  const hasOther = file.length > 0 || data !== undefined;
  const fromStdin = text === "-" || (text === undefined && stdin.isTTY !== true && !hasOther);
  const content = fromStdin ? await readText(stdin) : text;
  if (content !== undefined && content !== "") parts.push(textPart(content));
  else if (!hasOther) throw usageError("there is nothing to send", 'Give a text: koine send <url> "hello", or pipe one in.');
  let left = ATTACHED_BYTES;
  for (const path of file) {
    const part = await readFilePart(path, left);
    left -= part.bytes.length;
    parts.push(part);
  }
  if (data !== undefined) parts.push({ kind: "data", data });
  return parts;
}

async function readText(stdin: Stdin): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > ATTACHED_BYTES) throw tooLarge("stdin");
    chunks.push(bytes);
  }
  // The newline that ends a line in a shell is not part of the text.
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

async function readFilePart(path: string, left: number): Promise<Extract<Part, { readonly kind: "raw" }>> {
  const handle = await open(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw usageError(`${path} is not a file`);
    if (facts.size > left) throw tooLarge(path);
    return { kind: "raw", bytes: await handle.readFile(), name: basename(path), mediaType: mediaTypeOf(path) };
  } finally {
    await handle.close();
  }
}

function tooLarge(what: string): CliError {
  return new CliError(EXIT.failure, `${what} is too large: one message takes ${ATTACHED_BYTES / 1024 / 1024} MiB in all`, {
    code: "too_large",
    hint: "Put it somewhere and send its URL.",
  });
}
