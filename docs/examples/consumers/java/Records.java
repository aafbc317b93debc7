import java.io.IOException;
import java.lang.module.ModuleDescriptor.Version;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.*;
import java.util.*;
import org.apache.avro.*;
import org.apache.avro.generic.*;
import org.apache.avro.io.DecoderFactory;

/** Records in the Avro single-object encoding, read as their newest schemas have them. */
class Records {
    static final Map<Long, Schema> WRITERS = new HashMap<>(); // by fingerprint
    static final Map<String, Schema> NEWEST = new HashMap<>(); // by the record's name

    static void load(Path folder) throws IOException {
        if (Files.isDirectory(folder)) try (var files = Files.walk(folder)) {
            var byRelease = Comparator.comparing((Path file) -> Version.parse(file.getParent().getFileName().toString()));
            for (Path file : files.filter(each -> each.toString().endsWith(".avsc")).sorted(byRelease).toList()) {
                Schema schema = new Schema.Parser().parse(Files.readString(file));
                WRITERS.put(SchemaNormalization.parsingFingerprint64(schema), schema);
                NEWEST.put(schema.getFullName(), schema);
            }
        }
        if (WRITERS.isEmpty()) throw new IllegalStateException("SCHEMAS: no schemas in " + folder);
    }

    /** Throws IllegalArgumentException for a value that cannot be decoded; its message says why. */
    static GenericRecord decode(byte[] value) {
        if (value.length > 0 && value[0] == 0) // as is every other record: it ends the program, and nothing is committed
            throw new IllegalStateException("Confluent's wire format: use your registry's deserializer (docs/consumers.md)");
        if (value.length < 10 || value[0] != (byte) 0xC3 || value[1] != 1)
            throw new IllegalArgumentException("not in the Avro single-object encoding");
        Schema writer = WRITERS.get(ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).getLong(2));
        String found = HexFormat.of().formatHex(value, 2, 10);
        if (writer == null) throw new IllegalArgumentException("unknown fingerprint " + found + ": of a later release?");
        try {
            var reader = new GenericDatumReader<GenericRecord>(writer, NEWEST.get(writer.getFullName()));
            return reader.read(null, DecoderFactory.get().binaryDecoder(value, 10, value.length - 10, null));
        } catch (IOException | RuntimeException error) { // whatever the bytes are
            throw new IllegalArgumentException("malformed " + writer.getFullName() + ": " + error.getClass().getSimpleName());
        }
    }
}
