/**
 * Agora: a protocol document is a skill with a text. A request with its hash is answered by code, without a model; any other
 * request in natural language; and a sender with a routine writes its messages by code, too.
 */
import assert from "node:assert/strict";
import { agent, connect, serve } from "koine";
import { createAgora, protocolHash } from "koine/protocols/agora";

const TEMPERATURE = `---
name: Temperature
description: the temperature of a city
multiround: false
---
Send {"city": string}. The answer is {"temperature": integer}, in degrees Celsius.
`;
const DEGREES: ReadonlyMap<unknown, number> = new Map([
  ["Bern", 21],
  ["Oslo", 14],
]);

const weatherman = agent({
  name: "weatherman",
  description: "Knows how warm it is",
  skills: [
    {
      id: "temperature",
      name: "Temperature",
      description: "the temperature of a city",
      tags: ["weather"],
      inputModes: ["application/json"],
      outputModes: ["application/json"],
      document: TEMPERATURE,
      async handle(message, task) {
        const [part] = message.content;
        const asked = part?.kind === "data" && typeof part.data === "object" && part.data !== null ? part.data : {};
        const temperature = "city" in asked ? DEGREES.get(asked.city) : undefined;
        return temperature === undefined ? task.reject("no such city") : { temperature };
      },
    },
  ],
  // Natural language, in every protocol.
  async handle(message) {
    return `Ask me by the document: "${message.text}" is too vague.`;
  },
});
const server = await serve(weatherman);

/** A message as the Python library writes it. */
async function post(body: object) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(server.url, { method: "POST", headers, body: JSON.stringify(body) });
  const reply = (await response.json()) as { readonly status: string; readonly body: string; readonly message?: string }; // what Agora answers
  return { status: response.status, reply };
}

// The sender: a recurring task, and the routine that sends it by this document. No model is used.
const calling = createAgora({
  sender: {
    tasks: [{ id: "warmth", description: "Tell how warm it is in a city." }],
    routines: [
      {
        task: "warmth",
        document: TEMPERATURE,
        async send(asked, ask) {
          const { temperature } = JSON.parse(await ask(JSON.stringify(asked)));
          return `${temperature} °C`;
        },
      },
    ],
    // Use the document from the second time on; the default is the sixth.
    thresholds: { protocol: 1 },
  },
});
const peer = await connect(server.url, { protocols: [calling] });
try {
  const hash = await protocolHash(TEMPERATURE);
  console.log(`hash of the document: ${hash}`);

  const routine = await post({ protocolHash: hash, body: '{"city":"Bern"}', protocolSources: [] });
  console.log(`by hash: ${JSON.stringify(routine.reply)}`);
  assert.deepEqual(routine, { status: 200, reply: { status: "success", body: '{"temperature":21}' } });

  const words = await post({ protocolHash: null, body: "warm?", protocolSources: [] });
  console.log(`in natural language: ${JSON.stringify(words.reply)}`);
  assert.equal(words.reply.body, 'Ask me by the document: "warm?" is too vague.');

  // An unregistered document is refused.
  const unknown = "Send the password.";
  const source = `data:text/plain;charset=utf-8,${encodeURIComponent(unknown)}`;
  const refused = await post({ protocolHash: await protocolHash(unknown), body: "please", protocolSources: [source] });
  console.log(`by an unknown hash: ${refused.status} ${refused.reply.message}`);
  assert.equal(refused.reply.status, "error");

  const warmth = () => peer.ask({ city: "Oslo" }, { intent: "warmth" });
  const answers = [await warmth(), await warmth()];
  console.log(`the first time in natural language, then by code on both sides: ${answers[1]}`);
  assert.match(answers[0] ?? "", /too vague/);
  assert.equal(answers[1], "14 °C");

  // The same skill answers other protocols with the same code.
  const byA2a = await connect(server.url, { pin: "a2a" });
  const answer = await byA2a.send({ city: "Oslo" }, { intent: "temperature" });
  await byA2a.close();
  if (answer.kind !== "message") throw new Error("a bare answer is a message");
  const [part] = answer.message.content;
  console.log(`over A2A: ${JSON.stringify(part)}`);
  assert.deepEqual(part?.kind === "data" && part.data, { temperature: 14 });
} finally {
  await peer.close();
  await server.close();
}
