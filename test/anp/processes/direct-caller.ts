// A process with an agent of its own that sends direct messages to another DID: `FILE PORT DID`. Prints what arrives, as JSON lines.
import { agent, connect, serve, textOf } from "../../../src/index.js";
import { openIdentity } from "../../../src/public/identity.js";

const [file = "", port = "", did = ""] = process.argv.slice(2);
const settings = { anp: { loopbackHttp: true } };
const identity = await openIdentity(file);
const own = agent({ name: "ann", description: "Ann's agent", handle: ({ text }) => `unexpected: ${text}` });
const server = await serve(own, { port: Number(port), identity, settings });
const peer = await connect(did, { identity, settings, replies: server.replies, pin: "anp@1.2/DIRECT" });
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
print({ asked: await peer.ask("now") });
const inbox = peer.receive()[Symbol.asyncIterator]();
await peer.start("later");
const { value } = await inbox.next();
print({ received: textOf(value?.content ?? []), from: value?.src });
await peer.close();
await server.close();
