import type { Interface } from "../src/index.js";

/** What `serve --try` prints. Examples for people, one per kind of interface; an interface without one has no line. */

const HELLO = "good morning";

interface TryOptions {
  readonly url: string;
  readonly interfaces: readonly Interface[];
  readonly needsToken: boolean;
}

export function callsToTry({ url, interfaces, needsToken }: TryOptions): readonly string[] {
  const token = needsToken ? ` -H "Authorization: Bearer $KOINE_TOKEN"` : "";
  const calls = interfaces.flatMap((each) => {
    const example = EXAMPLES[`${each.protocol}@${each.version} ${each.binding}`];
    return example === undefined ? [] : [`# ${each.protocol} ${each.version}, ${each.binding}`, example(each.url, token)];
  });
  return [
    "# what is it, and how do we know",
    `npx koine card get ${url}`,
    "# call it, all at once and as it comes",
    `npx koine send ${url} "${HELLO}"`,
    `npx koine send ${url} "${HELLO}" --stream -o json`,
    ...calls,
    ...(PLAIN.serves(interfaces) ? ["# the plain endpoint", PLAIN.call(url, token)] : []),
    "# does it keep to its protocol",
    `npx koine conform ${url}`,
  ];
}

type Example = (url: string, token: string) => string;

function curl(url: string, token: string, headers: readonly string[], body: unknown): string {
  const all = ["content-type: application/json", ...headers].map((header) => ` -H '${header}'`).join("");
  return `curl -s ${url}${token}${all} -d '${JSON.stringify(body)}'`;
}

/** A2A 1.0 §3.1.1 and §5.3; A2A 0.3 §7.1. */
const MESSAGE_1_0 = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: HELLO }] };
const MESSAGE_0_3 = { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: HELLO }] };

const EXAMPLES: { readonly [kind: string]: Example } = {
  "a2a@1.0 JSONRPC": (url, token) =>
    curl(url, token, ["A2A-Version: 1.0"], { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: MESSAGE_1_0 } }),
  "a2a@1.0 HTTP+JSON": (url, token) => curl(`${url}/message:send`, token, ["A2A-Version: 1.0"], { message: MESSAGE_1_0 }),
  "a2a@0.3 JSONRPC": (url, token) =>
    curl(url, token, [], { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: MESSAGE_0_3 } }),
};

/** The seed's plain endpoint has no entry on the card: it is a path everybody may assume. */
const PLAIN = {
  serves: (interfaces: readonly Interface[]): boolean => interfaces.some(({ protocol }) => protocol === "a2a"),
  call: (url: string, token: string): string =>
    curl(`${url}/message`, token, [], { id: "m-1", params: { message: { text: HELLO }, context: {} } }),
};
