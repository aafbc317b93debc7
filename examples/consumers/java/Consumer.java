import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import org.apache.avro.*;
import org.apache.avro.generic.*;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Prints a line for each verdict, rate and alert of truthgate. Needs kafka-clients and avro, nothing else. */
public class Consumer {
    static final List<String> TOPICS = List.of("verdicts.auto-send", "verdicts.review", "verdicts.blocked",
        "hallucination-rates", "hallucination-alerts");
    static final int REMEMBERED = 100_000; // verdict ids, some 10 MB; the oldest are forgotten
    static final Map<Long, Schema> WRITERS = new HashMap<>(); // by fingerprint
    static final Map<String, Schema> NEWEST = new HashMap<>(); // by the record's name
    static final Set<String> SEEN = Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override protected boolean removeEldestEntry(Map.Entry<String, Boolean> oldest) { return size() > REMEMBERED; }
    });

    static void load(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            var byRelease = Comparator.comparing((Path file) -> Integer.valueOf(file.getFileName().toString().split("\\.")[0]));
            for (Path file : files.filter(each -> each.toString().endsWith(".avsc")).sorted(byRelease).toList()) {
                Schema schema = new Schema.Parser().parse(Files.readString(file));
                WRITERS.put(SchemaNormalization.parsingFingerprint64(schema), schema);
                NEWEST.put(schema.getFullName(), schema);
            }
        }
    }

    /** Throws IllegalArgumentException for a value that cannot be decoded; its message says why. */
    static GenericRecord decode(byte[] value) {
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

    static String line(GenericRecord of) {
        if (of.getSchema().getName().equals("Verdict")) {
            var score = of.get("score") == null ? "-" : String.format(Locale.ROOT, "%.1f", of.get("score"));
            var reasons = ((List<?>) of.get("reasons")).stream().map(Object::toString).toList();
            return of.get("decision") + " " + of.get("answer_id") + " " + score + " " + String.join(",", reasons);
        }
        if (of.getSchema().getName().equals("RateWindow"))
            return "rate " + of.get("message_type") + "/" + Objects.requireNonNullElse(of.get("language"), "-") + " "
                + of.get("hallucinated") + " of " + of.get("scored") + " untrue";
        return of.hasField("alert_id") ? "alert " + of.get("alert") + " " + of.get("status") : of.getSchema().getFullName();
    }

    static void show(ConsumerRecord<byte[], byte[]> record) {
        try {
            if (record.value() == null) throw new IllegalArgumentException("no value"); // a tombstone
            GenericRecord fields = decode(record.value());
            if (fields.hasField("verdict_id") && !SEEN.add(fields.get("verdict_id").toString()))
                throw new IllegalArgumentException(fields.get("verdict_id") + " again");
            System.out.println(line(fields));
        } catch (IllegalArgumentException why) {
            System.err.printf("%s/%d@%d: %s%n", record.topic(), record.partition(), record.offset(), why.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        var environment = System.getenv();
        load(Path.of(environment.getOrDefault("SCHEMAS", "../../../schemas/released")));
        Map<String, Object> options = Map.of("bootstrap.servers", environment.getOrDefault("KAFKA", "localhost:9092"),
            "group.id", environment.getOrDefault("GROUP", "verdict-log"), "auto.offset.reset", "earliest",
            "enable.auto.commit", false, "isolation.level", "read_committed");
        var consumer = new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try { main.join(10_000); } catch (InterruptedException ended) { Thread.currentThread().interrupt(); }
        }));
        try (consumer) {
            consumer.subscribe(TOPICS.stream().map(topic -> environment.getOrDefault("PREFIX", "") + topic).toList());
            while (true) {
                consumer.poll(Duration.ofMillis(500)).forEach(Consumer::show);
                try { // after the work: who takes over after a crash or a rebalance repeats rather than loses
                    consumer.commitSync();
                } catch (CommitFailedException lost) {
                    System.err.println("partitions went to another consumer: it repeats the last lines");
                }
            }
        } catch (WakeupException stop) { /* by SIGTERM or Ctrl-C */ }
    }
}
