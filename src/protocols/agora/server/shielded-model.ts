import { AgentError } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";

/**
 * A model whose troubles stay on this side. Whoever talks to us learns that it did not answer; where it is, what its key is
 * called and what its server says about the account behind it are the operator's affair, and so is that a key was refused:
 * the caller's own was not.
 */
export function shielded(model: LanguageModel): LanguageModel {
  return {
    async complete(request, cancel) {
      try {
        return await model.complete(request, cancel);
      } catch (cause) {
        if (cancel.reason !== undefined) throw cancel.reason;
        const { code, facts } = AgentError.from(cause);
        throw new AgentError(code === "deadline" ? code : "unavailable", "the language model of this side did not answer", {
          cause,
          ...(facts.retryAfterMs === undefined ? undefined : { retryAfterMs: facts.retryAfterMs }),
        });
      }
    },
  };
}
