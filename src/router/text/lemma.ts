/** Irregular forms. */
const IRREGULAR = new Map(
  Object.entries({
    be: "am are is was were been being 's",
    have: "has had having",
    do: "does did done doing",
    go: "goes went gone",
    say: "said says",
    make: "made making",
    take: "took taken taking",
    come: "came coming",
    see: "saw seen",
    get: "got gotten getting",
    give: "gave given giving",
    find: "found",
    tell: "told",
    keep: "kept",
    hold: "held",
    send: "sent",
    speak: "spoke spoken",
    write: "wrote written writing",
    break: "broke broken",
    choose: "chose chosen choosing",
    know: "knew known",
    lose: "lost losing",
    pay: "paid",
    leave: "left leaving",
    think: "thought",
    bring: "brought",
    buy: "bought",
    catch: "caught",
    begin: "began begun",
    run: "ran running",
    sit: "sat sitting",
    stand: "stood",
    understand: "understood",
    mean: "meant",
    meet: "met",
    read: "reads",
    hear: "heard",
    feel: "felt",
    grow: "grew grown",
    show: "shown",
    wear: "wore worn",
    swear: "swore sworn",
    steal: "stole stolen",
    hide: "hid hidden hiding",
    freeze: "froze frozen",
    forget: "forgot forgotten",
    bind: "bound",
    prove: "proven proving",
    man: "men",
    woman: "women",
    person: "people persons",
    child: "children",
    party: "parties",
    copy: "copies copied copying",
    reply: "replies replied replying",
    deny: "denies denied denying",
    vary: "varies varied",
    carry: "carries carried",
    verify: "verifies verified verifying",
    datum: "data",
    index: "indices indexes",
  }).flatMap(([lemma, forms]) => forms.split(" ").map((form) => [form, lemma] as const)),
);

const VOWEL = /[aeiouy]/;

/** Consonants that are doubled before an ending. */
const DOUBLED = "bdgkmnprtv";
/** Before a final s, these belong to the word: "pass", "status", "basis". */
const KEEP_S = "sui";

/** "stopp" becomes "stop"; "fill" stays. A silent final e is dropped, so that "voting" and "vote" match. */
function bare(stem: string): string {
  const last = stem.charAt(stem.length - 1);
  const isDoubled = stem.length > 1 && stem.charAt(stem.length - 2) === last && DOUBLED.includes(last);
  const single = isDoubled ? stem.slice(0, -1) : stem;
  return single.length > 3 && single.endsWith("e") ? single.slice(0, -1) : single;
}

/**
 * One spelling for the inflections of a word. It need not be a dictionary word, as long as the forms of one word match and
 * those of different words do not.
 */
export function lemmaOf(word: string): string {
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return bare(irregular);
  const plain = word.includes("'") ? word.replace(/'s?$/, "") : word;
  if (plain.length <= 3) return plain;
  if (plain.endsWith("ies") || plain.endsWith("ied")) return plain.length > 4 ? `${plain.slice(0, -3)}y` : plain.slice(0, -1);
  if (plain.endsWith("es") && /(?:ss|sh|ch|x|z)es$/.test(plain)) return plain.slice(0, -2);
  if (plain.endsWith("s") && !KEEP_S.includes(plain.charAt(plain.length - 2))) return bare(plain.slice(0, -1));
  if (plain.endsWith("ing") && plain.length > 5 && VOWEL.test(plain.slice(0, -3))) return bare(plain.slice(0, -3));
  if (plain.endsWith("ed") && plain.length > 4 && !plain.endsWith("eed") && VOWEL.test(plain.slice(0, -2)))
    return bare(plain.slice(0, -2));
  return bare(plain);
}
