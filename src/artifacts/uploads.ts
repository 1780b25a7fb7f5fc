import { AgentError, isObject, type JsonObject, type Principal } from "../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { errorResponse } from "../transport/response.js";
import { readContentRange } from "./byte-range.js";
import { ARTIFACT_PATH, type ArtifactLinks, notFound } from "./links.js";
import { STATUS } from "./serve.js";
import type { ArtifactStore, UploadFacts, UploadState } from "./store.js";

/** The path of the document that offers uploads; uploads begin there. */
export const UPLOAD_PATH = "/artifacts";
/** The name of this way to upload. A host without it takes no uploads. */
export const UPLOAD_OFFER = "urn:koine:artifacts:1";
/** Bytes of one piece. It is held in memory, so it is far below the body limit. */
export const PIECE_BYTES = 1024 * 1024;

const NAME_CHARS = 512;
const MEDIA_TYPE_CHARS = 256;

/** The store, the links and the authentication of uploads. */
export interface UploadServerOptions {
  readonly store: ArtifactStore;
  readonly links: ArtifactLinks;
  admit(request: HttpRequest): Principal | Promise<Principal>;
}

/**
 * Uploads in pieces. `GET /artifacts` offers them. `POST /artifacts` with size and digest begins one, or finds it again after a cut: the
 * answer says where to go on. `PATCH /artifacts/{id}` with `Content-Range` adds a piece. The answer to the last one has the link.
 */
export function uploadExchange(options: UploadServerOptions): Exchange {
  return async (request) => {
    try {
      if (request.method === "GET" || request.method === "HEAD") return offer(request, options.store);
      const { owner } = await options.admit(request);
      return await (request.method === "POST" ? begin(request, owner, options) : addPiece(request, owner, options));
    } catch (thrown) {
      const error = AgentError.from(thrown);
      return errorResponse(STATUS[error.code] ?? 500, error, { "cache-control": "no-store" });
    }
  };
}

function offer({ method }: HttpRequest, { artifactBytes }: ArtifactStore): HttpResponse {
  const response = json(200, { artifacts: UPLOAD_OFFER, artifactBytes, pieceBytes: PIECE_BYTES });
  return method === "HEAD" ? { ...response, body: undefined } : response;
}

async function begin(request: HttpRequest, owner: string, { store, links }: UploadServerOptions): Promise<HttpResponse> {
  const facts = readFacts(request.json(), owner);
  const id = links.uploadId(facts);
  return stateResponse(id, await store.begin(id, facts), links);
}

async function addPiece(request: HttpRequest, owner: string, { store, links }: UploadServerOptions): Promise<HttpResponse> {
  const id = request.path.slice(request.path.lastIndexOf(ARTIFACT_PATH) + ARTIFACT_PATH.length);
  const before = await store.upload(id);
  if (before === undefined || before.owner !== owner) throw notFound();
  const range = readContentRange(request.headers["content-range"]);
  if (range === undefined || range.size !== before.bytes || range.end - range.start !== request.body.length)
    throw new AgentError("invalid_message", `Content-Range must describe the piece: bytes FIRST-LAST/${before.bytes}`, {
      field: "content-range",
    });
  if (request.body.length > PIECE_BYTES)
    throw new AgentError("too_large", `a piece has at most ${PIECE_BYTES} bytes (pieceBytes)`);
  const state = before.offset === range.start ? await store.append(id, range.start, request.body) : before;
  return stateResponse(id, state, links, state.offset === range.end ? 200 : 409);
}

/** 409: the piece begins elsewhere than where the upload stands; `offset` says where that is. */
function stateResponse(id: string, { offset, bytes, info }: UploadState, links: ArtifactLinks, status = 200): HttpResponse {
  return json(status, { id, offset, bytes, pieceBytes: PIECE_BYTES, ...(info === undefined ? {} : { url: links.make(info) }) });
}

function readFacts(body: unknown, owner: string): UploadFacts {
  if (!isObject(body)) throw invalid("body", "must be a JSON object");
  const { bytes, sha256, mediaType, name } = body;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) throw invalid("bytes", "must be a whole number");
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) throw invalid("sha256", "must be 64 lower-case hex digits");
  return {
    owner,
    bytes,
    sha256,
    mediaType: readText("mediaType", mediaType, MEDIA_TYPE_CHARS),
    name: readText("name", name, NAME_CHARS),
  };
}

function readText(field: string, value: unknown, most: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.length > most) throw invalid(field, `must be text of at most ${most} characters`);
  return value;
}

function invalid(field: string, what: string): AgentError {
  return new AgentError("invalid_message", `${field}: ${what}`, { field });
}

function json(status: number, value: JsonObject): HttpResponse {
  const headers = { "content-type": "application/json", "cache-control": "no-store" };
  return { status, headers, body: JSON.stringify(value) };
}
