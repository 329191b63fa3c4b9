import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { install, type Installation } from "./install.ts";

/** A running DynamoDB Local; it ends with this process. */
export interface DynamoDBLocal {
  readonly endpoint: string;
  readonly pid: number;
  readonly version: string;
  stop(): Promise<void>;
}

const startTimeout = 60_000;

/** What `java` is given to run the launcher; without a limit it took 5.8 GB to build an index. Its parallel collectors cost a tenth more CPU. */
export const javaArguments = ({ jars, classes }: Installation): readonly string[] => [
  "-Xmx1g",
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
  `-Dsqlite4java.library.path=${jars}`,
  "-Dlog4j2.level=OFF",
  "-cp",
  [classes, join(jars, "*")].join(delimiter),
  "Launcher",
];

const launch = (installation: Installation) => {
  const environment = { ...process.env, DDB_LOCAL_TELEMETRY: "0" };
  const child = spawn("java", javaArguments(installation), { stdio: ["pipe", "pipe", "pipe"], env: environment });
  let output = "";
  const endpoint = new Promise<string>((resolve) => {
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-4_000);
      const found = /listening on (http:\S+)\s/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  });
  const ended = once(child, "exit");
  return { child, endpoint, ended, output: () => output };
};

// Neither is checked, but both must be there and well formed (docs/engines.md).
const headers = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-target": "DynamoDB_20120810.ListTables",
  "x-amz-date": "20260101T000000Z",
  authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
};

const listTables = async (endpoint: string, signal: AbortSignal): Promise<void> => {
  const answer = await fetch(endpoint, { method: "POST", headers, body: "{}", signal });
  if (!answer.ok) throw new Error(`DynamoDB Local answered ListTables with ${answer.status}: ${await answer.text()}`);
};

/**
 * Starts Amazon DynamoDB Local in memory on a free port of 127.0.0.1, and waits until it answers.
 *
 * @throws Error when Java or Maven is missing, or it does not answer within 60 s.
 */
export const startDynamoDBLocal = async (): Promise<DynamoDBLocal> => {
  const installation = await install();
  const { child, endpoint: listening, ended, output } = launch(installation);
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  const late = AbortSignal.timeout(startTimeout);
  const endpoint = await Promise.race([listening, ended, once(late, "abort")]);
  if (typeof endpoint !== "string") {
    await stop();
    throw new Error(`DynamoDB Local did not start. Its last lines:\n${output()}`);
  }
  await listTables(endpoint, late);
  return { endpoint, pid: child.pid ?? 0, version: installation.version, stop };
};
