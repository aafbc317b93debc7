// Sends what truthgate or a person sends, each once over restarts. Needs kafkajs and avsc, nothing else.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import kafkajs from "kafkajs";
import { FINAL, decode, end } from "./records.mjs";

const { KAFKA = "localhost:9092", GROUP = "sender", PREFIX = "", SEND_TO = "", STORE = "sent.log" } = process.env;
const { LATER = "A colleague will answer.", MAX_AGE_SECONDS = "86400" } = process.env;
const TOPICS = ["verdicts.auto-send", "reviews"].map((topic) => PREFIX + topic);
const MAX_AGE = Number(MAX_AGE_SECONDS) * 1000; // an older answer is not sent any more
const NEVER = [400, 413, 422]; // this answer will not be taken, now or later
if (!/^https?:\/\/[!-~]+$/.test(SEND_TO)) end("SEND_TO should be the address that takes the answers");
if (!(MAX_AGE > 0)) end("MAX_AGE_SECONDS should be a number of seconds");

// The verdicts that were claimed or done: a line each, on the disk before an answer is sent and after it was. Those
// whose answer is too old to be sent are forgotten at the start.
const store = new Map();
for (const line of existsSync(STORE) ? readFileSync(STORE, "utf8").split("\n").filter((each) => each.endsWith("}")) : []) {
  const { id, until, state } = JSON.parse(line);
  if (until > Date.now()) store.set(id, { until, state });
}
writeFileSync(`${STORE}.new`, [...store].map(([id, value]) => `${JSON.stringify({ id, ...value })}\n`).join(""));
renameSync(`${STORE}.new`, STORE);
const file = openSync(STORE, "a");
function note(id, until, state) {
  store.set(id, { until, state });
  writeSync(file, `${JSON.stringify({ id, until, state })}\n`);
  fsyncSync(file);
}

// What a record says, whether it is the one that counts if it is the first, and the text that it sends, if any.
function read(name, record) {
  if (name === "truthgate.Verdict") return [record.decision, record.decision === "auto_send", record.answer];
  const { outcome, text } = record;
  return [outcome, Boolean(record[FINAL[outcome]]), outcome === "expired" ? LATER : outcome === "reject" ? "" : text];
}

async function post(id, conversation_id, answer) {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const body = JSON.stringify({ conversation_id, answer });
  const signal = AbortSignal.timeout(10_000);
  const { ok, status } = await fetch(SEND_TO, { method: "POST", headers, body, redirect: "error", signal });
  if (NEVER.includes(status)) console.error(`${id}: refused with ${status}`);
  else if (!ok) throw new Error(`status ${status}`);
}

async function send({ topic, partition, message }) {
  const place = `${topic}/${partition}@${message.offset}`;
  if (message.value === null) return console.error(`${place}: no value`); // a tombstone
  let name, record;
  try { [name, record] = decode(message.value); } catch (error) { end(`${place}: ${error.message}`); }
  const { verdict_id: id, conversation_id, produced_at } = record;
  const [said, counts, text] = read(name, record);
  const age = Date.now() - Number(produced_at);
  if (!counts || age > MAX_AGE) return console.error(`${place}: ${id} is ${said}: not sent`);
  const before = store.get(id)?.state;
  if (before === "done") return; // sent, rejected or expired before: the first outcome counts
  if (before) console.error(`${place}: ${id} may have been sent before: send`);
  note(id, Number(produced_at) + MAX_AGE, "claimed");
  if (age < -MAX_AGE) console.error(`${place}: ${id} is ${said}: not sent`); // a wrong clock; no later outcome counts
  else if (text) await post(id, conversation_id, text).catch((error) => end(`${place}: ${id} cannot be sent: ${error.message}`));
  note(id, Number(produced_at) + MAX_AGE, "done");
}

const kafka = new kafkajs.Kafka({ brokers: KAFKA.split(","), logLevel: kafkajs.logLevel.ERROR });
const consumer = kafka.consumer({ groupId: GROUP, readUncommitted: false });
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => consumer.disconnect().then(() => closeSync(file)));
await consumer.connect().catch((error) => end(`KAFKA: ${error.message}`));
await consumer.subscribe({ topics: TOPICS, fromBeginning: true });
await consumer.run({ eachMessage: send });
