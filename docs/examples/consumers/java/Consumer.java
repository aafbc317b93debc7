import java.nio.file.Path;
import java.time.Duration;
import java.util.*;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Prints a line for each verdict, review, rate and alert of truthgate. Needs kafka-clients and avro, nothing else. */
public class Consumer {
    static final List<String> TOPICS = List.of("verdicts.auto-send", "verdicts.review", "verdicts.blocked",
        "reviews", "hallucination-rates", "hallucination-alerts");
    static final int REMEMBERED = 100_000; // ids, some 10 MB; the oldest are forgotten
    static final Set<String> SEEN = Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override protected boolean removeEldestEntry(Map.Entry<String, Boolean> oldest) { return size() > REMEMBERED; }
    });

    static String line(GenericRecord of) {
        if (of.getSchema().getName().equals("Verdict")) {
            var score = of.get("score") == null ? "-" : String.format(Locale.ROOT, "%.1f", of.get("score"));
            var reasons = ((List<?>) of.get("reasons")).stream().map(Object::toString).toList();
            return of.get("decision") + " " + of.get("answer_id") + " " + score + " " + String.join(",", reasons);
        }
        if (of.getSchema().getName().equals("Review")) return "reviewed " + of.get("answer_id") + " " + of.get("outcome");
        if (of.getSchema().getName().equals("RateWindow"))
            return "rate " + of.get("message_type") + "/" + Objects.requireNonNullElse(of.get("language"), "-") + " "
                + of.get("hallucinated") + " of " + of.get("scored") + " untrue";
        return of.hasField("alert_id") ? "alert " + of.get("alert") + " " + of.get("status") : of.getSchema().getFullName();
    }

    /** Of two records with the same identity the first counts: of a verdict, and of outcomes of one; null: of none. */
    static String identity(GenericRecord of) {
        if (!of.hasField("verdict_id")) return null;
        if (!of.hasField("outcome")) return of.get("verdict_id").toString();
        boolean isFinal = switch (of.get("outcome").toString()) {
            case "reject", "expired" -> true;
            case "send", "send_edited" -> of.get("text") != null && !of.get("text").toString().isEmpty();
            default -> false;
        };
        return isFinal ? "outcome of " + of.get("verdict_id") : of.get("review_id").toString();
    }

    static void show(ConsumerRecord<byte[], byte[]> record) {
        try {
            if (record.value() == null) throw new IllegalArgumentException("no value"); // a tombstone
            GenericRecord fields = Records.decode(record.value());
            String found = identity(fields);
            if (found != null && !SEEN.add(found)) throw new IllegalArgumentException(found + " again");
            System.out.println(line(fields));
        } catch (IllegalArgumentException why) {
            System.err.printf("%s/%d@%d: %s%n", record.topic(), record.partition(), record.offset(), why.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        run("verdict-log", TOPICS, Consumer::show);
    }

    /** Gives each record of these topics to {@code work}, until SIGTERM or Ctrl-C. */
    static void run(String group, List<String> names, java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> work)
        throws Exception {
        Thread main = Thread.currentThread();
        main.setUncaughtExceptionHandler((thread, error) ->
            System.err.println(error instanceof IllegalStateException ? error.getMessage() : error.toString()));
        var environment = System.getenv();
        Records.load(Path.of(environment.getOrDefault("SCHEMAS", "../../../../schemas/released")));
        Map<String, Object> options = Map.of("bootstrap.servers", environment.getOrDefault("KAFKA", "localhost:9092"),
            "group.id", environment.getOrDefault("GROUP", group), "auto.offset.reset", "earliest",
            "enable.auto.commit", false, "isolation.level", "read_committed");
        var consumer = new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try { main.join(10_000); } catch (InterruptedException ended) { Thread.currentThread().interrupt(); }
        }));
        try (consumer) {
            var there = consumer.listTopics().keySet(); // those of rates are not where rates are off
            String prefix = environment.getOrDefault("PREFIX", "");
            var topics = names.stream().map(topic -> prefix + topic).filter(there::contains).toList();
            if (topics.isEmpty()) throw new IllegalStateException("PREFIX: there is no topic " + prefix + names.get(0));
            consumer.subscribe(topics);
            while (true) {
                consumer.poll(Duration.ofMillis(500)).forEach(work);
                try { // after the work: who takes over after a crash or a rebalance repeats rather than loses
                    consumer.commitSync();
                } catch (CommitFailedException lost) {
                    System.err.println("partitions went to another consumer: it repeats the last lines");
                }
            }
        } catch (WakeupException stop) { /* by SIGTERM or Ctrl-C */ }
    }
}
