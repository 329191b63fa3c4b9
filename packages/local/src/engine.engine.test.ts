import { getEventListeners, once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeanTransport } from "edgetable";
import { afterAll, describe, expect, test, vi } from "vitest";
import { findEngineBinary } from "./binary.ts";
import { startEngine } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "edgetable-engine-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that stands in for the engine; it was told to listen on `$3`, port `$5`. */
const standIn = (name: string, script: string): string => {
  const path = join(folder, name);
  writeFileSync(path, script.startsWith("#!") ? script : `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
};

const answers = async (endpoint: string): Promise<boolean> => {
  const transport = createLeanTransport({ endpoint });
  const answered = await transport.send("ListTables", {}).then(
    () => true,
    () => false,
  );
  await transport.close();
  return answered;
};

const failed = (message: string | RegExp): object => ({ code: "local.engineFailed", message: expect.stringMatching(message) as string });

describe("a start that works", () => {
  test("gives an endpoint on loopback that answers, and stops for good, twice too", async () => {
    const engine = await startEngine();
    expect(engine).toMatchObject({ endpoint: `http://127.0.0.1:${engine.port}`, version: "1.2.1" });
    expect(await answers(engine.endpoint)).toBe(true);
    await engine.stop();
    await engine.stop();
    expect(await answers(engine.endpoint)).toBe(false);
    expect(() => process.kill(engine.pid, 0)).toThrow("ESRCH");
  });

  test("can be disposed of", async () => {
    const engine = await startEngine();
    await engine[Symbol.asyncDispose]();
    expect(await answers(engine.endpoint)).toBe(false);
  });

  test("twenty at once each have a port and a process of their own", async () => {
    const engines = await Promise.all(Array.from({ length: 20 }, () => startEngine()));
    expect(new Set(engines.map(({ port }) => port)).size).toBe(20);
    expect(new Set(engines.map(({ pid }) => pid)).size).toBe(20);
    expect((await Promise.all(engines.map(({ endpoint }) => answers(endpoint)))).every(Boolean)).toBe(true);
    await Promise.all(engines.map((engine) => engine.stop()));
  });

  test("takes the port it is given", async () => {
    const first = await startEngine();
    await first.stop();
    const second = await startEngine({ port: first.port });
    expect(second.port).toBe(first.port);
    await second.stop();
  });

  test("takes a free port for port 0, as servers do", async () => {
    const engine = await startEngine({ port: 0 });
    expect(engine.port).toBeGreaterThan(0);
    await engine.stop();
  });

  test("tries another port when it loses the race for one", async () => {
    const counter = join(folder, "races");
    const loser = standIn(
      "loser",
      `echo x >> ${counter}\n[ $(wc -l < ${counter}) -ge 3 ] && exec ${findEngineBinary().path} "$@"\necho "error: port $5 is already in use" >&2\nexit 1`,
    );
    const engine = await startEngine({ binary: loser });
    expect(await answers(engine.endpoint)).toBe(true);
    await engine.stop();
  });

  test("an engine that was stopped leaves nothing at its signal", async () => {
    const { signal } = new AbortController();
    for (let run = 0; run < 3; run++) await (await startEngine({ signal })).stop();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("an abort stops the engine", async () => {
    const controller = new AbortController();
    const engine = await startEngine({ signal: controller.signal });
    controller.abort();
    await vi.waitFor(async () => expect(await answers(engine.endpoint)).toBe(false), { timeout: 20_000 });
  });
});

describe("a start that fails", () => {
  test("a port that is taken is named", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await expect(startEngine({ port })).rejects.toMatchObject(failed(`port ${port} is already in use`));
    server.close();
  });

  test("a binary that is not there", async () => {
    await expect(startEngine({ binary: join(folder, "absent") })).rejects.toMatchObject(
      failed(/absent.*ended with exit code 127[^]*not found/),
    );
  });

  test("a file that is no program", async () => {
    const path = join(folder, "text");
    writeFileSync(path, "no program");
    await expect(startEngine({ binary: path })).rejects.toMatchObject(failed(/exit code 126[^]*[Pp]ermission denied/));
  });

  test("a binary that ends at once: its last lines are in the message", async () => {
    const binary = standIn("ends", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $i >&2; done\nexit 3");
    await expect(startEngine({ binary })).rejects.toMatchObject(failed(/exit code 3\. Its last lines:\nline 3\n[^]*line 12$/));
  });

  test("a binary that a signal ends", async () => {
    await expect(startEngine({ binary: standIn("killed", "kill -9 $$") })).rejects.toMatchObject(
      failed("was ended by SIGKILL. It wrote nothing."),
    );
  });

  test("a binary that says nothing is given up in time, and killed", async () => {
    const pidFile = join(folder, "silent.pid");
    const binary = standIn("silent", `echo $$ > ${pidFile}\nexec sleep 60`);
    // Time enough for a shell to begin; the engine's own 60 s are never waited for.
    const start = performance.now();
    await expect(startEngine({ binary, startTimeout: 2_000 })).rejects.toMatchObject(failed("did not answer within 2000 ms"));
    expect(performance.now() - start).toBeLessThan(30_000);
    expect(() => process.kill(Number(readFileSync(pidFile, "utf8")), 0)).toThrow("ESRCH");
  });

  test("a binary that listens and never answers", async () => {
    const source = `#!${process.execPath}\nconst port = Number(process.argv[6]);\nrequire("node:net").createServer(() => undefined).listen(port, process.argv[4], () => console.error("listening on http://" + process.argv[4] + ":" + port));\n`;
    await expect(startEngine({ binary: standIn("deaf", source), startTimeout: 1_500 })).rejects.toMatchObject(
      failed("did not answer within 1500 ms"),
    );
  });

  test("a binary that claims to listen and does not", async () => {
    const binary = standIn("liar", 'echo "listening on http://$3:$5" >&2\nexec sleep 60');
    await expect(startEngine({ binary })).rejects.toMatchObject(failed("did not answer a ListTables request"));
  });

  test("another engine that answers on the port is never mistaken for the own one", async () => {
    const other = await startEngine();
    await expect(startEngine({ binary: standIn("asleep", "exec sleep 60"), port: other.port, startTimeout: 300 })).rejects.toMatchObject(
      failed("did not answer within 300 ms"),
    );
    await other.stop();
  });

  test("an abort before or during the start rejects as aborted", async () => {
    await expect(startEngine({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "execute.aborted" });
    await expect(startEngine({ binary: standIn("slow", "exec sleep 60"), signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      code: "execute.aborted",
    });
  });

  test("an option out of range is refused", async () => {
    await expect(startEngine({ port: 65_536 })).rejects.toMatchObject({ code: "plan.invalidOption" });
    await expect(startEngine({ startTimeout: 0 })).rejects.toMatchObject({ code: "plan.invalidOption" });
    await expect(startEngine({ file: "" })).rejects.toMatchObject({ code: "plan.invalidOption" });
    await expect(startEngine({ fil: "dev.db" } as never)).rejects.toThrow(/There is no option "fil"\. Did you mean "file"\?/);
  });
});
