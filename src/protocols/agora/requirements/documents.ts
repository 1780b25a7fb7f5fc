import { encodeBase64 } from "../../../envelope/index.js";
import { protocolHash } from "../documents/hash.js";
import { dataUriOf } from "../documents/sources.js";
import type { Probe } from "./probe.js";

/** A text with its hash and sources. */
export interface Sample {
  readonly hash: string;
  readonly text: string;
  readonly uri: string;
  readonly base64: string;
}

const LINES = ["---", "name: Echo", "description: ECHO protocol", "multiround: false", "---", "ECHO the JSON body back.", ""];

/** Texts with the hashes that the Python library computes. */
export const VECTORS: readonly Sample[] = [
  sample(LINES.join("\n"), "L9xl1shodRYEKdIIT3ydYkazG8M="),
  sample(LINES.join("\r\n"), "mISFfEZtoAejB7NFWfE64yt4VR8="),
  sample(LINES.slice(0, -1).join("\n"), "r9NgomaQ1vXFY+HXrdstTIhRQQ0="),
  sample("---\nname: Zu\u0308rich\n---\n", "Z0LMRaKu9Db03Tx/OWS8pcGDk+M="),
];

function sample(text: string, hash: string): Sample {
  const base64 = `data:text/plain;charset=utf-8;base64,${encodeBase64(new TextEncoder().encode(text))}`;
  return { hash, text, uri: dataUriOf(text), base64 };
}

/** A new document that the subject cannot know. No agent can do what it requires. */
export async function newDocument({ subject }: Probe, name = "Unknown"): Promise<Sample> {
  const text = `---\nname: ${name}\ndescription: for a check\nmultiround: false\n---\nWord ${subject.newId()}: nobody can serve this.\n`;
  return sample(text, await protocolHash(text));
}
