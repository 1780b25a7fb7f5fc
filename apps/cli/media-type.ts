import { extname } from "node:path";

/** Common types; any other file is sent as bytes. */
const BY_EXTENSION: { readonly [extension: string]: string } = {
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".gz": "application/gzip",
  ".htm": "text/html",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".json": "application/json",
  ".jsonl": "application/x-ndjson",
  ".md": "text/markdown",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".tar": "application/x-tar",
  ".txt": "text/plain",
  ".wav": "audio/wav",
  ".webm": "video/webm",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".zip": "application/zip",
};

const BYTES = "application/octet-stream";

/** The media type a file's name suggests. */
export function mediaTypeOf(path: string): string {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(BY_EXTENSION, extension) ? (BY_EXTENSION[extension] ?? BYTES) : BYTES;
}

/** The extension a media type suggests, with its dot; `.bin` when none does. */
export function extensionOf(mediaType: string | undefined): string {
  const type = (mediaType ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return Object.keys(BY_EXTENSION).findLast((extension) => BY_EXTENSION[extension] === type) ?? ".bin";
}
