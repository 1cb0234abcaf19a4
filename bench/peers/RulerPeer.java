import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import software.amazon.event.ruler.Machine;

/** Event Ruler behind the protocol of java.py: a rule a line, then files of events, one a line. */
public final class RulerPeer {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws Exception {
        Machine machine = Machine.builder().build();
        List<String> rules = Files.readAllLines(Path.of(arguments[0]));
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int number = 0; number < rules.size(); number++) {
            machine.addRule(Integer.toString(number), rules.get(number));
        }
        say("ready", start);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] files = line.split("\t");
            List<String> events = Files.readAllLines(Path.of(files[0]));
            List<List<String>> found = new ArrayList<>(events.size());
            start = CLOCK.getCurrentThreadCpuTime();
            for (String event : events) {
                found.add(machine.rulesForJSONEvent(event));
            }
            long end = CLOCK.getCurrentThreadCpuTime();
            try (PrintWriter out = new PrintWriter(files[1])) {
                for (List<String> names : found) {
                    out.println(String.join(" ", names));
                }
            }
            System.out.println("done " + (end - start) / 1e9);
        }
    }

    private static void say(String word, long start) {
        System.out.println(word + " " + (CLOCK.getCurrentThreadCpuTime() - start) / 1e9);
    }
}
