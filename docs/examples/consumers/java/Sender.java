import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Sends what truthgate or a person sends, each once over restarts. Needs kafka-clients and avro, nothing else. */
public class Sender {
    static final Map<String, String> SETTINGS = System.getenv();
    static final String LATER = SETTINGS.getOrDefault("LATER", "A colleague will answer.");
    /** An older answer is not sent any more, in milliseconds. */
    static final long MAX_AGE = 1000 * Long.parseLong(SETTINGS.getOrDefault("MAX_AGE_SECONDS", "86400"));
    static final Set<Integer> NEVER = Set.of(400, 413, 422); // this answer will not be taken, now or later
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    /** The verdicts that were claimed or done; a line each in the file, on the disk before an answer is sent and after. */
    static final Map<String, String> STORE = new HashMap<>();
    static FileChannel file;

    /** Verdicts whose answer is too old to be sent are forgotten. */
    static void open(Path path) throws IOException {
        var kept = new ArrayList<String>();
        if (Files.exists(path)) for (String line : Files.readAllLines(path)) {
            String[] parts = line.split("\t", -1); // state, until, id, and the end of a whole line
            if (parts.length < 4 || Long.parseLong(parts[1]) < System.currentTimeMillis()) continue;
            STORE.put(parts[2], parts[0]);
            kept.add(line);
        }
        Path unfinished = Files.write(Path.of(path + ".new"), kept);
        Files.move(unfinished, path, StandardCopyOption.REPLACE_EXISTING);
        file = FileChannel.open(path, StandardOpenOption.APPEND);
    }

    static void note(String id, long until, String state) throws IOException {
        STORE.put(id, state);
        file.write(StandardCharsets.UTF_8.encode(state + "\t" + until + "\t" + id + "\t\n"));
        file.force(true);
    }

    /** What a record sends if it is the first of its verdict: empty for nothing; null if it does not count. */
    static String text(GenericRecord of) {
        boolean isReview = of.hasField("outcome");
        Object text = of.get(isReview ? "text" : "answer");
        return switch (of.get(isReview ? "outcome" : "decision").toString()) {
            case "auto_send", "send", "send_edited" -> text == null || text.toString().isEmpty() ? null : text.toString();
            case "reject" -> "";
            case "expired" -> LATER;
            default -> null;
        };
    }

    static void post(String id, String conversation, String answer) throws IOException, InterruptedException {
        String body = "{\"conversation_id\": " + quoted(conversation) + ", \"answer\": " + quoted(answer) + "}";
        var request = HttpRequest.newBuilder(URI.create(SETTINGS.get("SEND_TO"))).timeout(Duration.ofSeconds(10))
            .header("content-type", "application/json").header("idempotency-key", id);
        int status = CLIENT.send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build(),
            HttpResponse.BodyHandlers.discarding()).statusCode();
        if (NEVER.contains(status)) System.err.println(id + ": refused with " + status);
        else if (status / 100 != 2) throw new IOException("status " + status);
    }

    static String quoted(String text) {
        var json = new StringBuilder();
        text.chars().forEach(c -> json.append(c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", c) : "" + (char) c));
        return "\"" + json + "\"";
    }

    static void send(ConsumerRecord<byte[], byte[]> record) {
        String place = record.topic() + "/" + record.partition() + "@" + record.offset() + ": ";
        if (record.value() == null) { System.err.println(place + "no value"); return; } // a tombstone
        try {
            GenericRecord fields = Records.decode(record.value());
            String id = fields.get("verdict_id").toString(), text = text(fields), before = STORE.get(id);
            long produced = (Long) fields.get("produced_at");
            long age = System.currentTimeMillis() - produced;
            if (text == null || age > MAX_AGE) {
                System.err.println(place + id + ": not sent");
                return;
            }
            if ("done".equals(before)) return; // sent, rejected or expired before: the first outcome counts
            if (before != null) System.err.println(place + id + " may have been sent before: send");
            note(id, produced + MAX_AGE, "claimed");
            if (age < -MAX_AGE) System.err.println(place + id + ": not sent"); // a wrong clock; no later outcome counts
            else if (!text.isEmpty()) post(id, fields.get("conversation_id").toString(), text);
            note(id, produced + MAX_AGE, "done");
        } catch (IOException | InterruptedException | IllegalArgumentException error) {
            throw new IllegalStateException(place + "cannot be sent: " + error.getMessage());
        }
    }

    public static void main(String[] arguments) throws Exception {
        open(Path.of(SETTINGS.getOrDefault("STORE", "sent.log")));
        Consumer.run("sender", List.of("verdicts.auto-send", "reviews"), Sender::send);
    }
}
