import { describe, expect, test } from "vitest";
import { type AgentEvent, answerText, textOf } from "../../../src/index.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import { openProtocols } from "../../../test/helpers/open-protocols.js";
import { toy } from "../../../test/toy/index.js";
import { plug, plugCodec } from "./plugged.js";
import { prose, type Scene, SIZES } from "./workload.js";

const AGENTS = 3;

describe.each([...openProtocols, toy].map((protocol): [string, Protocol] => [protocol.id, protocol]))(
  "plug() for %s",
  (id, protocol) => {
    test("sends a message of exactly the measured length", async () => {
      for (const size of ["medium", "large"] as const) {
        const { work } = await plug(protocol, { protocol: id, size, agents: 1 });
        expect(work["json bytes"]()).toBeInstanceOf(Buffer);
        for (const floor of [work["json bytes"](), work.json()]) expect(String(floor)).toHaveLength(SIZES[size]);
      }
    });

    test("every message arrives once per call, at every agent", async () => {
      const { work, arrived } = await plug(protocol, { protocol: id, size: "small", agents: AGENTS });
      for (let call = 0; call < 2 * AGENTS; call++) expect(work["one way"]()).toBeUndefined();
      await expect.poll(arrived).toBe(2 * AGENTS);
    });

    test("both halves, together and each for itself, bring the answer", async () => {
      const { work, prepare } = await plug(protocol, { protocol: id, size: "small", agents: AGENTS });
      await prepare("server", 2 * AGENTS);
      for (let call = 0; call < 2 * AGENTS; call++) {
        for (const half of ["client", "round trip"] as const) expect(prose(400)).toContain(wordsOf(await work[half]()));
        expect(await work.server()).toMatchObject({ status: expect.toSatisfy((status) => status >= 200 && status < 300) });
      }
    });
  },
);

test.each(protocols.filter(({ codec }) => codec !== undefined))(
  "the codec of $id alone round-trips the message, for each agent",
  async (protocol) => {
    const scene: Scene = { protocol: protocol.id, size: "large", agents: AGENTS };
    const { work } = protocol.needsIdentity === true ? plugCodec(protocol, scene) : await plug(protocol, scene);
    for (let call = 0; call < AGENTS; call++) {
      const words = { text: expect.stringContaining("Please translate") };
      expect(work.codec?.()).toMatchObject({ kind: "send", delivery: "answer", envelope: { role: "user", content: [words] } });
    }
  },
);

function wordsOf(answer: unknown): string {
  // The work of a client half is a reply to a send: one event.
  const event = answer as AgentEvent;
  const words = event.kind === "message" ? textOf(event.message.content) : event.kind === "task" ? answerText(event.task) : "";
  expect(words).not.toBe("");
  return words;
}

describe.each(protocols.filter(({ codec, needsIdentity }) => codec !== undefined && needsIdentity === true))(
  "plugCodec() for $id",
  (protocol) => {
    test("has a text of the measured length, whatever becomes of the message in it, and no halves", () => {
      const { work } = plugCodec(protocol, { protocol: protocol.id, size: "large", agents: 1 });
      const { length } = String(work.json?.());
      expect([SIZES.large - length < 8, SIZES.large - length > -8]).toEqual([true, true]);
      expect(Object.keys(work)).toEqual(["json", "codec"]);
    });
  },
);
