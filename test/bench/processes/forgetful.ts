/** A caller of the benchmark that counts every answer, also the second one to the same question. */
import { AnswerBook } from "../../../bench/protocols/callers/answer-book.js";
import { runCallerProcess } from "../../../bench/protocols/processes/caller-process.js";

class ForgetfulBook extends AnswerBook {
  override settle(): boolean {
    return true;
  }
}

runCallerProcess(new ForgetfulBook());
