import type { Card, Interface } from "../src/index.js";
import { shellWord } from "./printable.js";
import { type Wanted, wantedBy } from "./scheme.js";

/** What `serve --try` prints. Examples for people, one per kind of interface; an interface without one has no line. */

const HELLO = "good morning";

interface TryOptions {
  readonly url: string;
  readonly interfaces: readonly Interface[];
  readonly security: Card["security"];
}

/** What a call needs beside its address, for our command line and for curl. */
interface Shown {
  readonly comment: readonly string[];
  readonly koine: string;
  readonly curl: string;
  /** Behind the path. */
  readonly query: string;
}

export function callsToTry({ url, interfaces, security }: TryOptions): readonly string[] {
  const shown = allOf([trustShown(url), credentialShown(firstWanted(security))]);
  const koine = (words: string): string => `npx koine ${words}${shown.koine}`;
  const calls = interfaces.flatMap((each) => {
    const example = EXAMPLES[`${each.protocol}@${each.version} ${each.binding}`];
    return example === undefined ? [] : [`# ${each.protocol} ${each.version}, ${each.binding}`, example(each.url, shown)];
  });
  const grpc = interfaces.find(({ binding }) => binding === "GRPC");
  return [
    ...shown.comment,
    "# what is it, and how do we know",
    koine(`card get ${url}`),
    "# call it, all at once and as it comes",
    koine(`send ${url} "${HELLO}"`),
    koine(`send ${url} "${HELLO}" --stream -o json`),
    ...(grpc === undefined
      ? []
      : [
          `# ${grpc.protocol} ${grpc.version}, GRPC, on the same port`,
          koine(`send ${url} "${HELLO}" --protocol ${grpc.protocol}@${grpc.version}/GRPC`),
        ]),
    ...calls,
    ...(PLAIN.serves(interfaces) ? ["# the plain endpoint", PLAIN.call(url, shown)] : []),
    "# does it keep to its protocol",
    koine(`conform ${url}`),
  ];
}

/** The way in that the card names first. */
function firstWanted({ schemes, anyOf }: Card["security"]): Wanted | undefined {
  const [name] = Object.keys(anyOf[0] ?? {});
  return name === undefined ? undefined : wantedBy(schemes[name]);
}

const NOTHING: Shown = { comment: [], koine: "", curl: "", query: "" };

function trustShown(url: string): Shown {
  if (!url.startsWith("https:")) return NOTHING;
  return {
    comment: ["# ca.pem is the authority of the certificate; without it if that is a public one"],
    koine: " --ca ca.pem",
    curl: " --cacert ca.pem",
    query: "",
  };
}

function credentialShown(wanted: Wanted | undefined): Shown {
  switch (wanted?.kind) {
    case "key": {
      const comment = ["# first: export KOINE_API_KEY=…, a key of one of the callers"];
      if (wanted.location === "query")
        return { ...NOTHING, comment, query: `?${encodeURIComponent(wanted.name)}=$KOINE_API_KEY` };
      const curl = wanted.location === "header" ? ` -H "${wanted.name}: $KOINE_API_KEY"` : ` -b "${wanted.name}=$KOINE_API_KEY"`;
      return { ...NOTHING, comment, curl };
    }
    case "token": {
      const from = wanted.from === undefined ? "a token of one of the callers" : `a token from ${shellWord(wanted.from)}`;
      return {
        ...NOTHING,
        comment: [`# first: export KOINE_TOKEN=…, ${from}`],
        curl: ` -H "Authorization: Bearer $KOINE_TOKEN"`,
      };
    }
    case "certificate":
      return {
        comment: ["# me.pem and me.key are the caller's certificate and its key"],
        koine: " --cert me.pem --key me.key",
        curl: " --cert me.pem --key me.key",
        query: "",
      };
    default:
      return NOTHING;
  }
}

function allOf(each: readonly Shown[]): Shown {
  const join = (member: "koine" | "curl" | "query"): string => each.map((shown) => shown[member]).join("");
  return { comment: each.flatMap(({ comment }) => comment), koine: join("koine"), curl: join("curl"), query: join("query") };
}

type Example = (url: string, shown: Shown) => string;

function curl(url: string, shown: Shown, headers: readonly string[], body: unknown): string {
  const all = ["content-type: application/json", ...headers].map((header) => ` -H '${header}'`).join("");
  const address = shown.query === "" ? url : `"${url}${shown.query}"`;
  return `curl -s ${address}${shown.curl}${all} -d '${JSON.stringify(body)}'`;
}

/** A2A 1.0 §3.1.1 and §5.3; A2A 0.3 §7.1. */
const MESSAGE_1_0 = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: HELLO }] };
const MESSAGE_0_3 = { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text: HELLO }] };

const EXAMPLES: { readonly [kind: string]: Example } = {
  "a2a@1.0 JSONRPC": (url, shown) =>
    curl(url, shown, ["A2A-Version: 1.0"], { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: MESSAGE_1_0 } }),
  "a2a@1.0 HTTP+JSON": (url, shown) => curl(`${url}/message:send`, shown, ["A2A-Version: 1.0"], { message: MESSAGE_1_0 }),
  "a2a@0.3 JSONRPC": (url, shown) =>
    curl(url, shown, [], { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: MESSAGE_0_3 } }),
};

/** The seed's plain endpoint has no entry on the card: it is a path everybody may assume. */
const PLAIN = {
  serves: (interfaces: readonly Interface[]): boolean => interfaces.some(({ protocol }) => protocol === "a2a"),
  call: (url: string, shown: Shown): string =>
    curl(`${url}/message`, shown, [], { id: "m-1", params: { message: { text: HELLO }, context: {} } }),
};
