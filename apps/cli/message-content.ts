import { type Json, textPart } from "../../src/index.js";
import { type ContentItem, openFile } from "./attached-file.js";
import { CliError, EXIT, usageError } from "./exit.js";

/** Limit of text from stdin. */
const STDIN_BYTES = 64 * 1024 * 1024;

export interface ContentOptions {
  readonly file?: readonly string[];
  readonly data?: Json;
}

type Stdin = AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean };

/** Text, files and data of one message. Without text, or with `-`, the text is read from stdin. Of files only the facts are read. */
export async function readContent(
  text: string | undefined,
  options: ContentOptions,
  stdin: Stdin,
): Promise<readonly ContentItem[]> {
  const { file = [], data } = options;
  const parts: ContentItem[] = [];
  const hasOther = file.length > 0 || data !== undefined;
  const fromStdin = text === "-" || (text === undefined && stdin.isTTY !== true && !hasOther);
  const content = fromStdin ? await readText(stdin) : text;
  if (content !== undefined && content !== "") parts.push(textPart(content));
  else if (!hasOther) throw usageError("there is nothing to send", 'Give a text: koine send <url> "hello", or pipe one in.');
  for (const path of file) parts.push(await openFile(path));
  if (data !== undefined) parts.push({ kind: "data", data });
  return parts;
}

async function readText(stdin: Stdin): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > STDIN_BYTES) throw tooLarge();
    chunks.push(bytes);
  }
  // The newline that ends a line in a shell is not part of the text.
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

function tooLarge(): CliError {
  return new CliError(EXIT.failure, `the text on stdin is too large: a message takes ${STDIN_BYTES / 1024 / 1024} MiB`, {
    code: "too_large",
    hint: "Send it as a file: --file FILE.",
  });
}
