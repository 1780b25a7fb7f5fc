/** Code whose branches must be tested, by its place in the tree, and the least percentage of each kind that must run. */
export interface CoverageGroup {
  readonly name: string;
  /** Paths from the root of the repository. The first group that matches has the file. */
  readonly files: readonly RegExp[];
  readonly least: Readonly<Record<Measure, number>>;
}

export const MEASURES = ["branches", "functions", "lines"] as const;
export type Measure = (typeof MEASURES)[number];

/** A protocol's folder, with what is inside it. */
const inProtocol = (path: string): RegExp => new RegExp(`^src/protocols/[^/]+/${path}\\.ts$`);

export const GROUPS: readonly CoverageGroup[] = [
  {
    name: "errors",
    files: [
      inProtocol("(errors|error-tables|codec/failure|grpc/status|session/handshake-error)"),
      /^src\/protocols\/plain-error\.ts$/,
      /^src\/envelope\/error\.ts$/,
      /^src\/transport\/(refusal|status-codes|retry-after)\.ts$/,
    ],
    least: { branches: 96, functions: 98, lines: 98 },
  },
  {
    name: "streams",
    files: [
      inProtocol("(codec/event(-reader|-writer)?|grpc/(framing|resume)|client/polled-log|server/run-(events|log))"),
      /^src\/protocols\/(plain-stream|frames|session-events)\.ts$/,
      /^src\/envelope\/event\.ts$/,
      /^src\/transport\/(sse|sse-items|event-stream|peer-events)\.ts$/,
      /^src\/tasks\/event-stream\.ts$/,
      /^src\/policies\/(resume-streams|open-streams)\.ts$/,
    ],
    least: { branches: 88, functions: 91, lines: 95 },
  },
  {
    name: "encode, decode",
    files: [
      inProtocol("(codec|send-codec|(codec|grpc|card)/.*)"),
      inProtocol("(plain/(request|reply|codec|frame)|server/(plain-request|plain-reply|run-form)|client/answers?)"),
      inProtocol("session/(binary-parts|call-messages|messages|hello)"),
      /^src\/envelope\/(ute|ute-content|ute-members|base64|part-bytes|json)\.ts$/,
      /^src\/transport\/(json|json-rpc|read-base64|fields|carried|timestamp|content-type)\.ts$/,
    ],
    least: { branches: 92, functions: 97, lines: 96 },
  },
];

/** The group of a file, by its path from the root of the repository. */
export function groupOf(path: string): CoverageGroup | undefined {
  return GROUPS.find(({ files }) => files.some((pattern) => pattern.test(path)));
}
