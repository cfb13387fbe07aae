// A MongoDB server in memory, on a free port, until its standard input closes.

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

class Server {
    // mongo-java-server announces wire version 8, and today's driver wants more. Finds and inserts did not change.
    static final MongoVersion VERSION = new MongoVersion() {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 13;
        }
    };

    public static void main(String[] arguments) throws Exception {
        var server = new MongoServer(new MemoryBackend().version(VERSION));
        server.bind("127.0.0.1", 0);
        System.out.println("listening on mongodb://127.0.0.1:" + server.getLocalAddress().getPort());
        while (System.in.read() >= 0) {}
        server.shutdownNow();
        System.exit(0);
    }
}
