import { PROTECTION, type Protection } from "./result.js";
import type { RunEvents } from "./run-events.js";

/** What protected the messages of an arm, as its callers reported it. Null: nobody did, or runs differ. */
export function protectionOf(runs: readonly RunEvents[]): Protection | null {
  const reported = runs.flatMap(({ configurations }) =>
    configurations.flatMap(({ values }) => {
      const read = PROTECTION.safeParse({
        signed: values["plug-in.signed"],
        sealed: values["plug-in.sealed"],
        callers: values["plug-in.callers"],
      });
      return read.success ? [read.data] : [];
    }),
  );
  const [first] = reported;
  return first === undefined || reported.some((each) => !equalProtection(each, first)) ? null : first;
}

export function equalProtection(one: Protection | null, other: Protection | null): boolean {
  return one?.signed === other?.signed && one?.sealed === other?.sealed && one?.callers === other?.callers;
}

const REACH = { none: undefined, hop: "each hop", "end-to-end": "end to end" } as const;

/** In words: `none`, or `callers by DID, signed end to end, sealed each hop`. */
export function protectionText(protection: Protection | null): string {
  if (protection === null) return "unknown";
  const { signed, sealed, callers } = protection;
  const words = [
    callers === "did" ? "callers by DID" : undefined,
    REACH[signed] && `signed ${REACH[signed]}`,
    REACH[sealed] && `sealed ${REACH[sealed]}`,
  ].filter((word) => word !== undefined);
  return words.join(", ") || "none";
}
