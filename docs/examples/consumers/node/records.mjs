// Records in the Avro single-object encoding, read as their newest schemas have them.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import avro from "avsc";

const { SCHEMAS = "../../../../schemas/released" } = process.env;
// The outcomes of a review that are final, each with the field that must not be empty.
export const FINAL = { send: "text", send_edited: "text", reject: "outcome", expired: "outcome" };

export function end(why) {
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

export function decode(value) {
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
