import edu.berkeley.cs.db.yfilter.filter.EXfilterBasic;
import edu.berkeley.cs.db.yfilterplus.queryparser.XPQuery;
import edu.berkeley.cs.db.yfilterplus.xmltree.XMLTree;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** YFilter 1.0 behind the protocol of java.py: a path a line, then files that name a document a line. */
public final class YFilterPeer {
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    public static void main(String[] arguments) throws Exception {
        EXfilterBasic filter = new EXfilterBasic();
        List<String> paths = Files.readAllLines(Path.of(arguments[0]));
        long start = CLOCK.getCurrentThreadCpuTime();
        for (String path : paths) {
            filter.addQuery(XPQuery.parseQuery(path, -1));
        }
        System.out.println("ready " + (CLOCK.getCurrentThreadCpuTime() - start) / 1e9);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] files = line.split("\t");
            List<List<Integer>> found = new ArrayList<>();
            start = CLOCK.getCurrentThreadCpuTime();
            for (String document : Files.readAllLines(Path.of(files[0]))) {
                filter.clear();
                filter.setXMLTree(new XMLTree(document));
                filter.startParsing();
                List<Integer> numbers = new ArrayList<>();
                for (Object number : filter.getMatchedQueries()) {
                    numbers.add((Integer) number - 1); // it counts from 1
                }
                found.add(numbers);
            }
            long end = CLOCK.getCurrentThreadCpuTime();
            try (PrintWriter out = new PrintWriter(files[1])) {
                for (List<Integer> numbers : found) {
                    StringBuilder text = new StringBuilder();
                    for (int number : numbers) {
                        text.append(number).append(' ');
                    }
                    out.println(text);
                }
            }
            System.out.println("done " + (end - start) / 1e9);
        }
    }
}
