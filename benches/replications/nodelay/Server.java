import com.sun.net.httpserver.HttpServer;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;

/** A server on the JDK's HttpServer, as its documentation has it: `java Server FILE`. */
public class Server {
    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[0]);
        byte[] ready = Files.readAllBytes(file);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ready", exchange -> {
            exchange.sendResponseHeaders(200, ready.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(ready);
            }
        });
        server.createContext("/file", exchange -> {
            exchange.sendResponseHeaders(200, Files.size(file));
            try (OutputStream body = exchange.getResponseBody()) {
                Files.copy(file, body);
            }
        });
        server.start();
        System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
    }
}
