// Prints a line for each verdict, review, rate and alert of truthgate. Needs kafkajs and avsc, nothing else.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import avro from "avsc";
import kafkajs from "kafkajs";

const { KAFKA = "localhost:9092", GROUP = "verdict-log", PREFIX = "", SCHEMAS = "../../../../schemas/released" } = process.env;
const VERDICTS = ["auto-send", "review", "blocked"].map((each) => `verdicts.${each}`);
const TOPICS = [...VERDICTS, "reviews", "hallucination-rates", "hallucination-alerts"];
const REMEMBERED = 100_000; // ids, some 10 MB; the oldest are forgotten

function end(why) {
  console.error(why);
  process.exit(1);
}

// CRC-64-AVRO of a schema's canonical form, little endian: the eight bytes behind C3 01.
const EMPTY = 0xc15d213aa4d7a795n;
const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let crc = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ EMPTY : crc >> 1n;
  return crc;
});
function fingerprint(type) {
  let crc = EMPTY;
  for (const byte of Buffer.from(JSON.stringify(type.schema()))) crc = (crc >> 8n) ^ TABLE[Number((crc ^ BigInt(byte)) & 0xffn)];
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(crc);
  return bytes.toString("hex");
}

// The writers' schemas by fingerprint, each with what turns its data into the record's newest schema.
const types = new Map(); // by the record's name, the oldest first: 0.10.0 comes after 0.9.0
const releases = existsSync(SCHEMAS) ? readdirSync(SCHEMAS).sort(new Intl.Collator("en", { numeric: true }).compare) : [];
for (const release of releases)
  for (const file of readdirSync(`${SCHEMAS}/${release}`).filter((name) => name.endsWith(".avsc"))) {
    const type = avro.Type.forSchema(JSON.parse(readFileSync(`${SCHEMAS}/${release}/${file}`, "utf8")));
    types.set(type.name, [...(types.get(type.name) ?? []), type]);
  }
const writers = new Map();
for (const each of types.values())
  for (const type of each) writers.set(fingerprint(type), { newest: each.at(-1), resolver: each.at(-1).createResolver(type) });
if (!writers.size) end(`SCHEMAS: no schemas in ${SCHEMAS}`);

function decode(value) {
  if (value[0] === 0) // as is every other record: nothing is committed
    end("Confluent's wire format: use your registry's deserializer (docs/consumers.md)");
  if (value.length < 10 || value.readUInt16BE(0) !== 0xc301) throw new Error("not in the Avro single-object encoding");
  const found = value.subarray(2, 10).toString("hex");
  const writer = writers.get(found);
  if (!writer) throw new Error(`unknown fingerprint ${found}: of a later release?`);
  try {
    return [writer.newest.name, writer.newest.fromBuffer(value.subarray(10), writer.resolver)];
  } catch {
    throw new Error(`malformed ${writer.newest.name}`);
  }
}

function line(name, record) {
  if (name === "truthgate.Verdict")
    return `${record.decision} ${record.answer_id} ${record.score?.toFixed(1) ?? "-"} ${record.reasons.join(",")}`;
  if (name === "truthgate.Review") return `reviewed ${record.answer_id} ${record.outcome}`;
  if (name === "truthgate.RateWindow")
    return `rate ${record.message_type}/${record.language ?? "-"} ${record.hallucinated} of ${record.scored} untrue`;
  return name === "truthgate.RateAlert" ? `alert ${record.alert} ${record.status}` : name;
}

// Of two records with the same identity the first counts: of a verdict, and of outcomes of one.
const FINAL = { send: "text", send_edited: "text", reject: "outcome", expired: "outcome" }; // what must not be empty
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
