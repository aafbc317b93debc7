// Reads an AsyncAPI document from standard input and writes what is wrong with it, as JSON.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
import { AvroSchemaParser } from "@asyncapi/avro-schema-parser";

const text = readFileSync(0, "utf8");
const avro = AvroSchemaParser();
const parser = new Parser();
parser.registerSchemaParser(avro);
const { document, diagnostics } = await parser.parse(text);
const complaints = diagnostics.map(({ code, message, path }) => `${path.join(".")}: ${code}: ${message}`);
// The parser leaves the schemas of messages alone in AsyncAPI 3: its plugin is asked about each.
for (const [name, { payload }] of Object.entries(JSON.parse(text).components?.messages ?? {})) {
  if (avro.getMimeTypes().includes(payload?.schemaFormat))
    for (const { message } of await avro.validate({ data: payload.schema, path: [] })) complaints.push(`${name}: ${message}`);
}
console.log(JSON.stringify({ whole: document !== undefined, complaints }));
