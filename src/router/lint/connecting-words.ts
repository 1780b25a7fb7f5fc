/** What holds a rationale together: words that name neither a need nor a capability. Inflections are understood. */
export const CONNECTING_WORDS = `
  a an the this that these those it its itself they them their themselves there here who whose which what
  all any both each either every few many more most much other another some such same several only own none nothing nobody
  neither nor no not never one two three first second third last

  about above across after against among around as at before behind below between beyond by during except for from in inside
  into of off on out outside over since through to toward under until up upon via with within without

  again already also although and because but even hence how however if instead just least less or rather so still than then
  therefore though thus too unless when where whereas whether while why yet

  are be been being can cannot could did do does done had has have having is may might must should was were will would

  need want ask demand require call rely depend say state mention speak describe name point show mean imply indicate emphasize
  fit suit match meet make made carry offer provide support bring give given lack miss leave left allow native

  choose chosen choice pick select decide decision tie break broke broken rule exclude remain stand stood come order resort
  outrank weigh outweigh count default rank ranking priority orient orientation equal level alone together

  text file module scenario description phrase word sentence passage English evidence requirement capability candidate protocol

  clear explicit direct plain main core primary best earlier earliest strong stronger strongest
`;
