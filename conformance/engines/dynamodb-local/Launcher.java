import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.lang.reflect.Constructor;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ContextHandler;

/**
 * Amazon DynamoDB Local on 127.0.0.1 and nowhere else. Its own main binds every interface, so this
 * one gives its request handler to a Jetty server with an address. It is what `-inMemory -sharedDb`
 * make; telemetry is never configured, so none is sent. Prints its endpoint once it listens, on a port
 * of the kernel's choice, and ends when its standard input does, which is when its parent has ended.
 *
 * Its test control is on: a PutItem to the table "[TEST_CONTROL]" with the attribute ACTION = "ROLLOVER" closes the open shard of
 * every stream and continues it with another. No public constructor turns it on.
 */
public final class Launcher {
  private Launcher() {}

  public static void main(String[] arguments) throws Exception {
    Constructor<LocalDynamoDBRequestHandler> constructor =
        LocalDynamoDBRequestHandler.class.getDeclaredConstructor(
            int.class, boolean.class, String.class, boolean.class, boolean.class, boolean.class);
    constructor.setAccessible(true);
    LocalDynamoDBRequestHandler requests = constructor.newInstance(0, true, null, true, false, true);
    Server server = new Server(new InetSocketAddress("127.0.0.1", 0));
    ContextHandler context = new ContextHandler("/");
    context.setHandler(new LocalDynamoDBServerHandler(requests, null));
    server.setHandler(context);
    server.start();
    int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
    System.out.println("listening on http://127.0.0.1:" + port);
    while (System.in.read() != -1) {
      // Only the end of the input means anything.
    }
    Runtime.getRuntime().halt(0);
  }
}
