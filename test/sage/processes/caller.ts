import { answerText, connect } from "../../../src/index.js";
import { a2a } from "../../../src/protocols/a2a/index.js";
import { sageOver } from "../../../src/protocols/sage/index.js";
import { openIdentity } from "../../../src/public/identity.js";
import { answerLines, firstLine } from "../../watermark/processes/lines.js";

/** A caller in its own process, which keeps what it was answered. */
export interface CallerFacts {
  readonly url: string;
  readonly pin: string;
  /** Absent: it calls in clear. */
  readonly sealed?: {
    readonly identity: string;
    readonly rpc: string;
    readonly registry: string;
    readonly peer: string;
    readonly gateway: string;
  };
}

const { url, pin, sealed }: CallerFacts = JSON.parse(await firstLine());
const { identity = "", ...sage } = sealed ?? {};
const own = sealed === undefined ? {} : { identity: await openIdentity(identity), settings: { sage } };
const peer = await connect(url, { protocols: [a2a, sageOver(a2a)], pin, ...own });
const kept: string[] = [];
answerLines({
  /** Says a text, and reads its task once more. */
  async say(text) {
    const event = await peer.send(text);
    if (event.kind !== "task") return `answered with a ${event.kind}`;
    const task = await peer.getTask(event.task.id);
    kept.push(answerText(event.task), answerText(task));
    return `answered ${kept.map(({ length }) => length).join()}`;
  },
});
process.stdout.write("ready caller\n");
