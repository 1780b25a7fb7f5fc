import type { ProbeName } from "../probe-config.js";
import { metadataExposure } from "./metadata-probe.js";
import { e2ePayloadDetection, networkSniffing } from "./privacy-probes.js";
import type { Probe } from "./probe.js";
import { keyRotation, replay, sessionHijack, tampering, timeSkewMatrix, windowAnomalies } from "./session-probes.js";
import { certificateMatrixClient, certificateMatrixServer, plaintextFallback, tlsDowngrade } from "./tls-probes.js";

const ALL: readonly Probe[] = [
  tlsDowngrade,
  plaintextFallback,
  certificateMatrixClient,
  certificateMatrixServer,
  sessionHijack,
  replay,
  timeSkewMatrix,
  windowAnomalies,
  tampering,
  networkSniffing,
  e2ePayloadDetection,
  metadataExposure,
  keyRotation,
];

/** The probes of these names, in the order of a run. */
export function probesOf(names: readonly ProbeName[]): readonly Probe[] {
  return ALL.filter(({ name }) => names.includes(name));
}
