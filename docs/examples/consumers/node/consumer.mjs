// Prints a line for each verdict, review, rate and alert of truthgate. Needs kafkajs and avsc, nothing else.
import kafkajs from "kafkajs";
import { FINAL, decode, end } from "./records.mjs";

const { KAFKA = "localhost:9092", GROUP = "verdict-log", PREFIX = "" } = process.env;
const VERDICTS = ["auto-send", "review", "blocked"].map((each) => `verdicts.${each}`);
const TOPICS = [...VERDICTS, "reviews", "hallucination-rates", "hallucination-alerts"];
const REMEMBERED = 100_000; // ids, some 10 MB; the oldest are forgotten

function line(name, record) {
  if (name === "truthgate.Verdict")
    return `${record.decision} ${record.answer_id} ${record.score?.toFixed(1) ?? "-"} ${record.reasons.join(",")}`;
  if (name === "truthgate.Review") return `reviewed ${record.answer_id} ${record.outcome}`;
  if (name === "truthgate.RateWindow")
    return `rate ${record.message_type}/${record.language ?? "-"} ${record.hallucinated} of ${record.scored} untrue`;
  return name === "truthgate.RateAlert" ? `alert ${record.alert} ${record.status}` : name;
}

// Of two records with the same identity the first counts: of a verdict, and of outcomes of one.
const identity = (name, record) => name !== "truthgate.Review" ? record.verdict_id
  : record[FINAL[record.outcome]] ? `outcome of ${record.verdict_id}` : record.review_id;
const seen = new Set();
async function show({ topic, partition, message }) {
  const tell = (what) => console.error(`${topic}/${partition}@${message.offset}: ${what}`);
  if (message.value === null) return tell("no value"); // a tombstone
  let name, record;
  try { [name, record] = decode(message.value); } catch (error) { return tell(error.message); }
  const found = identity(name, record);
  if (seen.has(found)) return tell(`${found} again`);
  if (found) seen.add(found);
  if (seen.size > REMEMBERED) seen.delete(seen.values().next().value);
  console.log(line(name, record));
}

const kafka = new kafkajs.Kafka({ brokers: KAFKA.split(","), logLevel: kafkajs.logLevel.ERROR });
const consumer = kafka.consumer({ groupId: GROUP, readUncommitted: false });
consumer.on(consumer.events.REBALANCING, () => console.error("partitions are shared out anew: the last lines may be repeated"));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => consumer.disconnect());
const admin = kafka.admin();
const there = await admin.connect().then(admin.listTopics).catch((error) => end(`KAFKA: ${error.message}`));
await admin.disconnect();
const topics = TOPICS.map((topic) => PREFIX + topic).filter((topic) => there.includes(topic)); // rates may be off
if (!topics.length) end(`PREFIX: there is no topic ${PREFIX}${TOPICS[0]}`);
await consumer.connect();
await consumer.subscribe({ topics, fromBeginning: true });
// Offsets are committed behind what was shown: who takes over after a crash or a rebalance repeats rather than loses.
await consumer.run({ eachMessage: show });
