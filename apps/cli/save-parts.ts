import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Part } from "../../src/index.js";
import { CliError, EXIT } from "./exit.js";
import { extensionOf } from "./media-type.js";

type RawPart = Extract<Part, { readonly kind: "raw" }>;
type UrlPart = Extract<Part, { readonly kind: "url" }>;

const NAME_CHARS = 120;
/** Limit of files of one name in a folder. */
const SAME_NAME = 1_000;

/**
 * A safe file name from an untrusted name: its last path segment, without characters that are special to shells, terminals
 * or file systems, and never hidden.
 */
export function safeName(name: string | undefined, mediaType: string | undefined): string {
  const last = (name ?? "").split(/[/\\]/).at(-1) ?? "";
  const plain = last
    .replace(/[^\p{L}\p{N} ._()+-]/gu, "_")
    .replace(/^[.\s-]+/, "")
    .replace(/[.\s]+$/, "");
  if (plain === "") return `part${extensionOf(mediaType)}`;
  // Reserved device names of some file systems.
  const named = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain) ? `_${plain}` : plain;
  const extension = extname(named).slice(0, 16);
  return named.length <= NAME_CHARS ? named : named.slice(0, NAME_CHARS - extension.length) + extension;
}

/** Writes the part into the folder under a safe, unused name. */
export async function savePart(part: RawPart, folder: string): Promise<string> {
  const { path, handle } = await createUnused(safeName(part.name, part.mediaType), folder);
  try {
    await handle.writeFile(part.bytes);
    return path;
  } finally {
    await handle.close();
  }
}

/** Writes what a URL part points to as it arrives, so that its size does not matter. A file that is not whole is removed. */
export async function saveChunks(
  part: UrlPart,
  chunks: AsyncIterable<Uint8Array>,
  { folder, onSaved }: { readonly folder: string; onSaved(bytes: number): void },
): Promise<string> {
  const { path, handle } = await createUnused(safeName(part.name ?? nameIn(part.url), part.mediaType), folder);
  try {
    let saved = 0;
    for await (const chunk of chunks) {
      await handle.writeFile(chunk);
      saved += chunk.length;
      onSaved(saved);
    }
    await handle.close();
    return path;
  } catch (thrown) {
    await handle.close();
    await rm(path, { force: true });
    throw thrown;
  }
}

/** The last piece of the path, if it looks like a file name. */
function nameIn(url: string): string | undefined {
  const last = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1) : undefined;
  return last !== undefined && extname(last) !== "" ? last : undefined;
}

async function createUnused(name: string, folder: string): Promise<{ readonly path: string; readonly handle: FileHandle }> {
  await mkdir(folder, { recursive: true });
  const extension = extname(name);
  const stem = name.slice(0, name.length - extension.length);
  for (let number = 1; number <= SAME_NAME; number++) {
    const path = join(folder, number === 1 ? name : `${stem}-${number}${extension}`);
    // `wx` neither overwrites nor follows a link.
    const handle = await open(path, "wx").catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === "EEXIST") return undefined;
      throw new CliError(EXIT.failure, `cannot write ${path} (${thrown.code ?? "unknown reason"})`);
    });
    if (handle !== undefined) return { path, handle };
  }
  throw new CliError(EXIT.failure, `${folder} has ${SAME_NAME} files called ${name} already`);
}
