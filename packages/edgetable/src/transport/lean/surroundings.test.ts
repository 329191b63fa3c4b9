import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createServiceClock } from "./clock.ts";
import { defaultCredentials } from "./default-credentials.ts";
import { parseEndpoint, serviceEndpoint } from "./endpoint.ts";
import { createLeanTransport, type LeanTransportOptions } from "./lean-transport.ts";
import { regionInConfig, resolveRegion } from "./region.ts";

const folder = mkdtempSync(join(tmpdir(), "edgetable-"));
beforeEach(() => {
  const names = [
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_CREDENTIAL_EXPIRATION",
  ];
  for (const name of names) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_CONFIG_FILE", join(folder, "config"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(folder, "credentials"));
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  rmSync(join(folder, "config"), { force: true });
});
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true }));

const refusal = (code: string, message: string) => expect.objectContaining({ code, message: expect.stringContaining(message) });

describe("region", () => {
  const config =
    "# comment\n[default]\noutput = json\nregion = eu-west-1 # here\n\n[profile work]\ns3 =\n  region = nowhere\nregion=ap-south-1\n[sso-session x]\nregion = us-west-2\n";

  test("the option, then the environment, then the shared config file, then the fallback", () => {
    expect(() => resolveRegion({})).toThrow(refusal("plan.invalidOption", "set AWS_REGION"));
    expect(resolveRegion({}, "us-east-1")).toBe("us-east-1");
    writeFileSync(join(folder, "config"), config);
    expect(resolveRegion({}, "us-east-1")).toBe("eu-west-1");
    expect(resolveRegion({ profile: "work" })).toBe("ap-south-1");
    vi.stubEnv("AWS_PROFILE", "work");
    expect(resolveRegion({})).toBe("ap-south-1");
    vi.stubEnv("AWS_DEFAULT_REGION", "ca-central-1");
    expect(resolveRegion({})).toBe("ca-central-1");
    vi.stubEnv("AWS_REGION", "sa-east-1");
    expect(resolveRegion({})).toBe("sa-east-1");
    expect(resolveRegion({ region: "eu-north-1" })).toBe("eu-north-1");
  });

  test("a profile that is not in the file, or has no region, gives none", () => {
    expect(regionInConfig(config, "other")).toBeUndefined();
    expect(regionInConfig("[default]\nkey = region = x\n", "default")).toBeUndefined();
    expect(regionInConfig("[profile  a]\r\nregion = eu-west-3\r\n", "a")).toBe("eu-west-3");
  });

  test("what is no region's name never gets into a host name", () => {
    expect(() => resolveRegion({ region: "evil.example/x" })).toThrow(refusal("plan.invalidOption", "evil.example/x"));
  });
});

describe("endpoint", () => {
  test.each([
    ["eu-central-1", "https://dynamodb.eu-central-1.amazonaws.com"],
    ["us-gov-west-1", "https://dynamodb.us-gov-west-1.amazonaws.com"],
    ["cn-north-1", "https://dynamodb.cn-north-1.amazonaws.com.cn"],
    ["us-iso-east-1", "https://dynamodb.us-iso-east-1.c2s.ic.gov"],
    ["us-isob-east-1", "https://dynamodb.us-isob-east-1.sc2s.sgov.gov"],
    ["us-isof-south-1", "https://dynamodb.us-isof-south-1.csp.hci.ic.gov"],
    ["eu-isoe-west-1", "https://dynamodb.eu-isoe-west-1.cloud.adc-e.uk"],
    ["eusc-de-east-1", "https://dynamodb.eusc-de-east-1.amazonaws.eu"],
  ])("of %s is %s", (region, url) => expect(serviceEndpoint(region)).toBe(url));

  test.each([
    ["http://127.0.0.1:8000", { hostname: "127.0.0.1", port: 8000, host: "127.0.0.1:8000", tls: false, loopback: true }],
    ["http://127.9.9.9", { hostname: "127.9.9.9", port: 80, host: "127.9.9.9", tls: false, loopback: true }],
    ["http://localhost:4566/", { hostname: "localhost", port: 4566, host: "localhost:4566", tls: false, loopback: true }],
    ["http://[::1]:8000", { hostname: "::1", port: 8000, host: "[::1]:8000", tls: false, loopback: true }],
    ["https://example.com", { hostname: "example.com", port: 443, host: "example.com", tls: true, loopback: false }],
  ])("%s is understood", (url, endpoint) => expect(parseEndpoint(url, false)).toEqual(endpoint));

  test.each([
    ["dynamodb", "not a URL"],
    ["ftp://localhost", "neither http nor https"],
    ["localhost:8000", "begin it with http:// or https://"],
    ["http://localhost/path", "path"],
    ["http://user:secret@localhost", "user name or password"],
    ["http://10.0.0.1:8000", "unencrypted"],
    ["http://127.0.0.1:0", "port 0"],
    ["http://127.0.0.1.example.com", "unencrypted"],
  ])("%s is refused", (url, message) => expect(() => parseEndpoint(url, false)).toThrow(refusal("plan.invalidOption", message)));

  test("a password in an endpoint is not repeated", () => {
    expect(() => parseEndpoint("http://user:secret@localhost", false)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining("secret") }),
    );
  });

  test("plain http to another machine has to be allowed", () => {
    expect(() => createLeanTransport({ endpoint: "http://dynamodb.internal:8000", region: "x" })).toThrow(
      refusal("plan.invalidOption", "allowInsecure"),
    );
    expect(() => createLeanTransport({ endpoint: "http://dynamodb.internal:8000", region: "x", allowInsecure: true })).not.toThrow();
  });

  test.each([{ maxSockets: 0 }, { maxSockets: 1.5 }, { connectTimeout: Number.NaN }, { requestTimeout: 600_001 }])(
    "%j is out of range",
    (options) => {
      expect(() => createLeanTransport({ region: "eu-west-1", ...options })).toThrow(
        refusal("plan.invalidOption", Object.keys(options)[0] as string),
      );
    },
  );

  test.each([
    ["a text from the environment is no permission", { endpoint: "http://10.0.0.1", allowInsecure: "false" }, "allowInsecure"],
    ["a name that is no option's", { maxSocket: 3 }, 'Did you mean "maxSockets"?'],
    ["the path of a certificate is none", { ca: "/etc/ssl/internal.pem" }, "PEM"],
    ["an empty text is no certificate either", { ca: "" }, "PEM"],
    ["certificates that are no text", { ca: {} }, "PEM"],
    ["no function", { now: 5 }, "now"],
    ["no options", null, "object"],
  ])("%s", (_, options, message) => {
    const given = options && { region: "eu-west-1", credentials: { accessKeyId: "A", secretAccessKey: "s" }, ...options };
    expect(() => createLeanTransport(given as LeanTransportOptions)).toThrow(refusal("plan.invalidOption", message));
  });
});

describe("default credentials", () => {
  test("come from the environment", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKID");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    expect(await defaultCredentials()()).toEqual({
      accessKeyId: "AKID",
      secretAccessKey: "secret",
      sessionToken: undefined,
      expiration: undefined,
    });
    vi.stubEnv("AWS_SESSION_TOKEN", "token");
    vi.stubEnv("AWS_CREDENTIAL_EXPIRATION", "2030-01-01T00:00:00Z");
    expect(await defaultCredentials()()).toMatchObject({ sessionToken: "token", expiration: new Date("2030-01-01T00:00:00Z") });
  });

  test("come from the named profile, even where the environment has keys", async () => {
    writeFileSync(join(folder, "credentials"), "[work]\naws_access_key_id = FILE\naws_secret_access_key = secret\n");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKID");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    expect(await defaultCredentials({ profile: "work" })()).toMatchObject({ accessKeyId: "FILE" });
  });

  test("fail with execute.credentials when a request needs them and there are none", async () => {
    rmSync(join(folder, "credentials"), { force: true });
    const transport = createLeanTransport({ region: "eu-west-1" });
    await expect(transport.send("ListTables", {})).rejects.toMatchObject({ code: "execute.credentials", retryable: false });
  });
});

describe("clock", () => {
  const date = (time: number): string => new Date(time).toUTCString();

  test("is corrected when the service is more than four minutes off, either way", () => {
    for (const offset of [300_000, -3_600_000]) {
      const clock = createServiceClock(() => 1_000_000_000);
      expect(clock.observe(date(1_000_000_000 + offset), 1_000_000_000)).toBe(true);
      expect(clock.now()).toBe(1_000_000_000 + offset);
      expect(clock.observe(date(clock.now()), clock.now())).toBe(false);
      expect(clock.observe(date(clock.now()), 1_000_000_000)).toBe(true);
    }
  });

  test("is left alone by small differences and by what is no date", () => {
    const clock = createServiceClock(() => 1_000_000_000);
    for (const text of [date(1_000_000_000 + 200_000), "", "yesterday"]) expect(clock.observe(text, 1_000_000_000)).toBe(false);
    expect(clock.now()).toBe(1_000_000_000);
  });

  test("looks at good answers once a minute", () => {
    let machine = 1_000_000_000;
    const clock = createServiceClock(() => machine);
    clock.glance(date(machine));
    clock.glance(date(machine + 600_000));
    expect(clock.now()).toBe(machine);
    machine += 60_000;
    clock.glance(date(machine + 600_000));
    expect(clock.now()).toBe(machine + 600_000);
  });
});
