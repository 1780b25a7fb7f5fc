import type { Card, Interface } from "../../src/index.js";
import { protocols, type SampleCall } from "../../src/public/protocols.js";
import { ownCommand } from "./own-command.js";
import { shellWord } from "./printable.js";
import { type Wanted, wantedBy } from "./scheme.js";

/** The output of `serve --try`: commands of this CLI, and sample requests of each protocol. */

const HELLO = "good morning";

interface TryOptions {
  readonly url: string;
  readonly card: Card;
  readonly interfaces: readonly Interface[];
  readonly security: Card["security"];
}

/** What a call needs beside its address, for our command line and for curl. */
interface Shown {
  readonly comment: readonly string[];
  readonly koine: string;
  readonly curl: string;
  /** Appended to the path. */
  readonly query: string;
}

export async function callsToTry({ url, card, interfaces, security }: TryOptions): Promise<readonly string[]> {
  const shown = allOf([trustShown(url), credentialShown(firstWanted(security))]);
  const koine = (words: string): string => `${ownCommand()} ${words}${shown.koine}`;
  const loaded = await Promise.all(
    protocols.map(async ({ id, samples }) => ({ id, samples: (await samples?.(HELLO, card)) ?? [] })),
  );
  const calls = loaded.flatMap(({ id, samples }) =>
    samples.flatMap((sample) => {
      const address = sample.wire === undefined ? hostOf(id, url, interfaces) : addressOf(id, sample.wire, interfaces);
      return address === undefined ? [] : [`# ${sample.about}`, curl(address, shown, sample)];
    }),
  );
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
    "# does it keep to its protocols",
    koine(`conform ${url}`),
  ];
}

/** The first security scheme of the card. */
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

/** The host, if it serves this protocol. */
function hostOf(protocol: string, url: string, interfaces: readonly Interface[]): string | undefined {
  return interfaces.some((each) => each.protocol === protocol) ? url : undefined;
}

function addressOf(
  protocol: string,
  { version, binding }: NonNullable<SampleCall["wire"]>,
  interfaces: readonly Interface[],
): string | undefined {
  return interfaces.find((each) => each.protocol === protocol && each.version === version && each.binding === binding)?.url;
}

function curl(url: string, shown: Shown, { path, headers, body }: SampleCall): string {
  const lines = ["content-type: application/json", ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  const all = lines.map((header) => ` -H '${header}'`).join("");
  const address = shown.query === "" ? `${url}${path}` : `"${url}${path}${shown.query}"`;
  return `curl -s ${address}${shown.curl}${all} -d '${JSON.stringify(body)}'`;
}
