import { expect, it } from "vitest";
import { writeDocuments } from "./documents.js";
import { askQuestions, LEVELS, MAX_PER_LEVEL } from "./questions.js";
import { makeWorld } from "./world.js";

const all = (seed: number) => askQuestions(makeWorld(seed), { levels: LEVELS, perLevel: MAX_PER_LEVEL, seed });

it("is the same for the same seed, and another for another", () => {
  expect(makeWorld(3)).toEqual(makeWorld(3));
  expect(writeDocuments(makeWorld(3))).not.toEqual(writeDocuments(makeWorld(4)));
  expect(all(3)).toEqual(all(3));
  expect(all(3)).not.toEqual(all(4));
});

it("asks different questions, as many of each level as wanted, and no more than there are", () => {
  const questions = all(5);
  expect(questions.map(({ level }) => level)).toEqual(LEVELS.flatMap((level) => Array(MAX_PER_LEVEL).fill(level)));
  expect(new Set(questions.map(({ text }) => text)).size).toBe(questions.length);
  expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
  expect(() => askQuestions(makeWorld(5), { levels: [1], perLevel: MAX_PER_LEVEL + 1, seed: 5 })).toThrow(
    "has 16 different questions",
  );
});

it("has no document that answers a question alone", () => {
  for (const seed of [1, 2, 3]) {
    const { texts } = writeDocuments(makeWorld(seed));
    for (const { answer, given } of all(seed)) {
      const named = Object.values(given);
      const telling = texts.filter(({ text }) => named.some((name) => text.includes(name)) && text.includes(` ${answer}`));
      // A number may occur by chance in a text about the same thing: but then not as its fee or bill.
      expect(telling.filter(({ text }) => text.includes(`fee of ${answer}`) || text.includes(`master ${answer}`))).toEqual([]);
    }
  }
});

// Worked out by hand from the documents of seed 1: see the texts and tables themselves.
it("writes what is true into texts and tables", () => {
  const world = makeWorld(1);
  const { texts, tables } = writeDocuments(world);
  const [ship] = world.ships;
  const port = world.ports.find(({ name }) => name === ship?.port);
  expect(texts.find(({ id }) => id === "ship-1")?.text).toContain(`the home port of the ${ship?.name} is ${ship?.port}.`);
  expect(tables.find(({ name }) => name === "ports")?.rows).toContainEqual([port?.name, port?.master, String(port?.fee)]);
  expect(tables.find(({ name }) => name === "stays")?.rows).toContainEqual([ship?.name, String(ship?.nights)]);
});
