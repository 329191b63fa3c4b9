import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { EdgetableError } from "edgetable";
import { findOnPath } from "./binary.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { Program } from "./launch.ts";
import { freeAddress } from "./launch.ts";

/**
 * Amazon DynamoDB Local, for platforms without the embedded engine. Its main class listens on every interface; the launcher
 * here binds one loopback address. In Docker, the port mapping does that.
 */

// The version that the conformance suite runs on.
const version = "2.6.1";

const launcher = `import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.ContextHandler;

public final class Launcher {
  public static void main(String[] arguments) throws Exception {
    Server server = new Server(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
    ContextHandler context = new ContextHandler("/");
    context.setHandler(new LocalDynamoDBServerHandler(new LocalDynamoDBRequestHandler(0, true, null, true, false), null));
    server.setHandler(context);
    server.start();
    System.out.println("listening on http://" + arguments[0] + ":" + arguments[1]);
  }
}
`;

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.edgetable</groupId>
  <artifactId>dynamodb-local-jars</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>com.amazonaws</groupId><artifactId>DynamoDBLocal</artifactId><version>${version}</version></dependency>
  </dependencies>
</project>
`;

const run = promisify(execFile);

const failed = (what: string, cause?: unknown): EdgetableError => {
  const { stdout = "", stderr = "" } = (cause ?? {}) as { readonly stdout?: string; readonly stderr?: string };
  const output = `${stdout}${stderr}`.trim().split("\n").slice(-10).join("\n");
  return new EdgetableError("local.engineFailed", output === "" ? what : `${what} Its last lines:\n${output}`, {
    cause,
    details: { output },
  });
};

/** Copies the jars from Maven Central, once (51 MB). A rename makes the finished folder appear atomically. */
const fetchJars = async (maven: string, folder: string, signal: AbortSignal | undefined): Promise<void> => {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  const building = await mkdtemp(`${folder}-`);
  try {
    await writeFile(join(building, "pom.xml"), pom);
    const goal = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies";
    await run(maven, ["-q", "-B", "-f", join(building, "pom.xml"), goal, `-DoutputDirectory=${building}`, "-DincludeScope=runtime"], {
      maxBuffer: 64 * 1024 * 1024,
      signal,
    });
    // Another process may have been faster. Its folder is the same.
    await rename(building, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } catch (error) {
    throw failed(
      `Maven could not fetch com.amazonaws:DynamoDBLocal:${version}. Give the path of a DynamoDBLocal.jar (jar, or --jar).`,
      error,
    );
  } finally {
    await rm(building, { recursive: true, force: true });
  }
};

const onJava = async (java: string, jar: string, known?: string): Promise<Program> => {
  const folder = dirname(resolve(jar));
  // AWS's archive has the libraries in a folder beside the jar, Maven's folder beside each other.
  const libraries = [join(folder, "DynamoDBLocal_lib"), folder].filter((one) => existsSync(one));
  // Java compiles and runs one source file (JDK 11 and newer).
  const sources = await mkdtemp(join(tmpdir(), "edgetable-launcher-"));
  const source = join(sources, "Launcher.java");
  await writeFile(source, launcher);
  return {
    name: `DynamoDB Local (${jar})`,
    path: java,
    args: ({ host, port }) => [
      // Without a limit it took 5.8 GB to build an index.
      "-Xmx1g",
      "-XX:TieredStopAtLevel=1",
      `-Dsqlite4java.library.path=${libraries[0]}`,
      "-Dlog4j2.level=OFF",
      "-cp",
      [resolve(jar), ...libraries.map((one) => join(one, "*"))].join(delimiter),
      source,
      host,
      String(port),
    ],
    saysWhenReady: true,
    startTimeout: 60_000,
    version: known ?? "unknown",
    cleanUp: () => rm(sources, { recursive: true, force: true }),
  };
};

/** Ends with its input, so that a container does not outlive the process that started it. */
const inContainer =
  "java -Djava.library.path=./DynamoDBLocal_lib -Xmx1g -jar DynamoDBLocal.jar -inMemory -sharedDb -disableTelemetry & cat >/dev/null; kill $!";

const inDocker = (docker: string): Program => ({
  name: `DynamoDB Local (Docker image amazon/dynamodb-local:${version})`,
  path: docker,
  args: ({ host, port }) => [
    "run",
    "--rm",
    "-i",
    "-p",
    `${host}:${port}:8000`,
    "--entrypoint",
    "sh",
    `amazon/dynamodb-local:${version}`,
    "-c",
    inContainer,
  ],
  saysWhenReady: false,
  keepsInput: true,
  startTimeout: 300_000,
  version,
  chooseAddress: freeAddress,
});

const nothingRunsIt = (): EdgetableError =>
  new EdgetableError(
    "local.engineNotFound",
    "DynamoDB Local needs a JDK 17 or Docker, and neither `java` nor `docker` is on PATH. Install one of them. Java takes DynamoDBLocal.jar from jar (--jar) or EDGETABLE_DYNAMODB_LOCAL_JAR, or fetches it with Maven.",
    { details: { engine: "dynamodb-local" } },
  );

const noJar = (): EdgetableError =>
  new EdgetableError(
    "local.engineNotFound",
    'Java is installed, but DynamoDB Local is not. Download it from AWS (the page "Setting up DynamoDB local" of the Developer Guide) and give the path of DynamoDBLocal.jar as jar (--jar) or EDGETABLE_DYNAMODB_LOCAL_JAR; or install Maven, which fetches it; or install Docker.',
    { details: { engine: "dynamodb-local" } },
  );

/**
 * Finds a way to run DynamoDB Local: the given jar, one that Maven fetches (into `.edgetable`), or Docker.
 *
 * @throws {local.engineNotFound} if there is none, {local.engineFailed} if the jar is missing or cannot be fetched
 */
export const findDynamoDBLocal = async ({ jar = process.env["EDGETABLE_DYNAMODB_LOCAL_JAR"], signal }: EngineOptions): Promise<Program> => {
  const [java, maven, docker] = ["java", "mvn", "docker"].map((name) => findOnPath(name));
  if (jar !== undefined && jar !== "") {
    if (!existsSync(jar)) throw failed(`There is no ${jar}: give the path of DynamoDBLocal.jar.`);
    if (java === undefined) throw nothingRunsIt();
    return onJava(java, jar);
  }
  const folder = resolve(".edgetable", "dynamodb-local", version);
  const fetched = join(folder, `DynamoDBLocal-${version}.jar`);
  if (java !== undefined && maven !== undefined && !existsSync(fetched)) await fetchJars(maven, folder, signal);
  if (java !== undefined && existsSync(fetched)) return onJava(java, fetched, version);
  if (docker !== undefined) return inDocker(docker);
  throw java === undefined ? nothingRunsIt() : noJar();
};
