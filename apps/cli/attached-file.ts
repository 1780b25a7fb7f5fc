import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { AgentError, type Part, type RemoteAgent, type Requirement, type UploadSource } from "../../src/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { formatBytes } from "./format-bytes.js";
import { mediaTypeOf } from "./media-type.js";

/** Files of this size and more are uploaded, if the peer has an artifact store. The same for all files together. */
const INLINE_BYTES = 1_000_000;
/** What is sent inside a message to a peer without one. As base64 it fits into Koine's limit of JSON bodies, with room for the rest. */
const INLINE_MOST_BYTES = 3_000_000;
const CHUNK_BYTES = 256 * 1024;

/** A file to be sent. Its content is read when it is known how. */
export interface AttachedFile {
  readonly kind: "file";
  readonly path: string;
  readonly bytes: number;
}

/** The facts of a file. */
export async function openFile(path: string): Promise<AttachedFile> {
  const handle = await open(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw usageError(`${path} is not a file`);
    return { kind: "file", path, bytes: facts.size };
  } finally {
    await handle.close();
  }
}

/** How files are sent, and who is shown the progress. */
export interface AttachContext {
  readonly peer: Pick<RemoteAgent, "upload">;
  readonly require: readonly Requirement[] | undefined;
  readonly signal: AbortSignal;
  show(state: string, text: string): void;
}

/** A part, or a file whose content is not read yet. */
export type ContentItem = Part | AttachedFile;

/**
 * The message with its files: small ones inline, large ones uploaded before the message is sent. A peer without an artifact store gets
 * them inline up to a limit, and above it nothing is sent.
 */
export async function attachFiles(content: readonly ContentItem[], context: AttachContext): Promise<readonly Part[]> {
  const total = content.reduce((sum, item) => sum + (item.kind === "file" ? item.bytes : 0), 0);
  let inline = total < INLINE_BYTES;
  const parts: Part[] = [];
  for (const item of content) {
    if (item.kind !== "file") parts.push(item);
    else if (inline || item.bytes === 0) parts.push(await inlinePart(item));
    else {
      try {
        parts.push(await uploadFile(item, context));
      } catch (thrown) {
        const error = AgentError.from(thrown);
        if (error.code !== "unsupported") throw thrown;
        if (total > INLINE_MOST_BYTES) throw refused(item, total, error);
        inline = true;
        parts.push(await inlinePart(item));
      }
    }
  }
  return parts;
}

async function uploadFile(file: AttachedFile, { peer, require, signal, show }: AttachContext): Promise<Part> {
  const name = basename(file.path);
  show("reading", name);
  const sha256 = await digestOf(file, signal);
  const handle = await open(file.path);
  try {
    const source: UploadSource = {
      bytes: file.bytes,
      sha256,
      name,
      mediaType: mediaTypeOf(file.path),
      async read({ start, end }) {
        const buffer = Buffer.allocUnsafe(end - start);
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
        return buffer.subarray(0, bytesRead);
      },
    };
    return await peer.upload(source, {
      signal,
      ...(require === undefined ? {} : { require }),
      onProgress: (sent, bytes) => show("uploading", progressText(name, sent, bytes)),
    });
  } finally {
    await handle.close();
  }
}

/** `45 % of 200.0 MB film.mp4` */
export function progressText(name: string, sent: number, bytes: number): string {
  return `${bytes === 0 ? 100 : Math.floor((sent * 100) / bytes)} % of ${formatBytes(bytes)} ${name}`;
}

async function digestOf({ path }: AttachedFile, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, signal })) hash.update(chunk);
  return hash.digest("hex");
}

async function inlinePart({ path }: AttachedFile): Promise<Part> {
  const handle = await open(path);
  try {
    return { kind: "raw", bytes: await handle.readFile(), name: basename(path), mediaType: mediaTypeOf(path) };
  } finally {
    await handle.close();
  }
}

function refused({ path }: AttachedFile, total: number, { code, message }: AgentError): CliError {
  return new CliError(EXIT.failure, `${path} is not sent: ${message}`, {
    code,
    hint: `Files of ${formatBytes(INLINE_MOST_BYTES)} in all can be sent inside a message (these have ${formatBytes(total)}). Put it somewhere and send its URL.`,
  });
}
