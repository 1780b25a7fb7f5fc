import { findUploads, type UploadContext, type UploadSource, uploadPart } from "../artifacts/index.js";
import {
  AgentError,
  type Call,
  cancelFrom,
  floorOf,
  type Maybe,
  NO_FLOOR,
  type Part,
  type Requirement,
  raiseFloor,
  startCall,
} from "../envelope/index.js";
import { tlsProtection } from "../protocols/index.js";
import type { Connection } from "./connection.js";
import type { PeerTarget } from "./resolve-peer.js";

/** Options of `upload`. */
export interface UploadOptions {
  /** Called after each piece. */
  readonly onProgress?: (sent: number, bytes: number) => void;
  /** The security that the content must have; without it nothing is sent. Default: what the connection requires. */
  readonly require?: readonly Requirement[];
  /** Stops the upload. The same content can be uploaded on from there later. */
  readonly signal?: AbortSignal;
}

/** Uploads content to the artifact store of a peer and returns the part that refers to it. */
export async function uploadTo(
  target: PeerTarget,
  connection: Connection,
  source: UploadSource,
  options: UploadOptions,
): Promise<Part> {
  const { clock, address } = target;
  const context: UploadContext = {
    exchange: connection.link.exchange,
    call: securedCall(target, options),
    addresses: [address, connection.current.peer.url],
    wait: (ms, cancel) => clock.sleep(ms, cancel),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  };
  const offer = await findUploads(context);
  if (offer === undefined)
    throw new AgentError(
      "unsupported",
      `the peer at ${address} has no artifact store that Koine can upload to, so ${source.bytes} bytes cannot be sent by reference`,
      { sent: "no", detail: { feature: "artifact-upload" } },
    );
  return uploadPart(source, offer, context);
}

/** What must be protected from end to end is refused: whoever stores it could read it. */
function securedCall({ floor, address }: PeerTarget, { require, signal }: UploadOptions): Call {
  const cancel: Maybe<ReturnType<typeof cancelFrom>> = signal && cancelFrom(signal);
  const call = startCall({ floor: raiseFloor(require === undefined ? NO_FLOOR : floorOf(require), floor.required), cancel });
  if (call.floor === NO_FLOOR) return call;
  const provided = raiseFloor(tlsProtection(address), floor.signedAt(address));
  return floor.check({ kind: "ping" }, call, { protocol: "an upload", url: address, provided });
}
