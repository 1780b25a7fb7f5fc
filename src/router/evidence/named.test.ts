import { describe, expect, it } from "vitest";
import { route } from "../route.js";

const chosenFor = async (text: string): Promise<string | null | undefined> => {
  const modules = [{ id: "m", passages: [{ kind: "need", text }] as const }];
  return (await route({ id: "s", description: "", modules })).decisions[0]?.selected_protocol;
};

describe("a mechanism that is named", () => {
  for (const text of [
    "Suppliers connect with mutual TLS.",
    "Partner firms reach us over mTLS.",
    "Carriers present TLS client certificates at our gateway.",
  ])
    it(`is read as sign-in, not as identity among strangers: ${text}`, async () => {
      expect(await chosenFor(text)).toBe("A2A");
    });

  it("takes nothing from other sentences of the text", async () => {
    const text =
      "Suppliers connect with mutual TLS. Nobody between the two ends may read the content, which is encrypted end to end.";
    expect(await chosenFor(text)).toBe("ANP");
  });
});
