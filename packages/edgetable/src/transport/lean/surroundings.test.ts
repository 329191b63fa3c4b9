import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defaultCredentials } from "./credentials.ts";
import { createLeanTransport, type LeanTransportOptions } from "./lean-transport.ts";
import { createServiceClock } from "./open-transport.ts";
import type { EdgetableError } from "../../errors/edgetable-error.ts";
import { configuredEndpoint, parseEndpoint, resolveRegion, serviceEndpoint, settingsIn } from "./surroundings.ts";

const folder = mkdtempSync(join(tmpdir(), "edgetable-"));
beforeEach(() => {
  const names = [
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
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
  rmSync(join(folder, "credentials"), { force: true });
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
    const regionIn = (text: string, ...names: readonly string[]) => settingsIn(text, ...names)?.get("region");
    expect(regionIn(config, "profile other")).toBeUndefined();
    expect(regionIn("[default]\nkey = region = x\n", "default")).toBeUndefined();
    expect(regionIn("[profile  a]\r\nregion = eu-west-3\r\n", "profile a")).toBe("eu-west-3");
    expect(regionIn('[profile "a"] # mine\nregion=x ; y\n', "profile a")).toBe("x");
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

  test.each([
    "http://user:secret@localhost",
    "ftp://user:secret@localhost",
    "user:secret@localhost:8000",
    "http://user:se/cr et@localhost:x",
  ])("a password in an endpoint is not repeated: %s", (url) => {
    let error: unknown;
    try {
      parseEndpoint(url, false);
    } catch (thrown) {
      error = thrown;
    }
    const { message, details } = error as EdgetableError;
    expect(`${message} ${JSON.stringify(details)}`).not.toMatch(/secret|se\/cr/);
    expect(message).toMatch(/URL|http|password/);
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

describe("the endpoint that the surroundings configure", () => {
  interface Case {
    readonly env?: Readonly<Record<string, string>>;
    readonly config?: string;
    readonly credentials?: string;
    readonly profile?: string;
    readonly expected: string | undefined;
  }

  // AWS's own client is asked the same: what it finds is what we find.
  const inClient = async (): Promise<string | undefined> => {
    const client = new DynamoDBClient({
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "s" },
    });
    // The client keeps the files that it has read.
    await client.config.region();
    const command = new ListTablesCommand({});
    let url: string | undefined;
    client.middlewareStack.add(
      () => async (args) => {
        const { protocol, hostname, port } = args.request as { protocol: string; hostname: string; port?: number };
        url = `${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`;
        throw new Error("enough");
      },
      { step: "finalizeRequest", priority: "low" },
    );
    await client.send(command).catch(() => undefined);
    client.destroy();
    return url?.endsWith("amazonaws.com") ? undefined : url;
  };

  const services =
    "[default]\nservices = mine\nendpoint_url = http://localhost:4\n[services mine]\ns3 =\n  endpoint_url = http://localhost:5\ndynamodb =\n  endpoint_url = http://localhost:3\n";

  test.each<[string, Case]>([
    ["nothing is configured", { expected: undefined }],
    [
      "the service's own variable goes before the one of all services",
      {
        env: { AWS_ENDPOINT_URL_DYNAMODB: "http://localhost:1", AWS_ENDPOINT_URL: "http://localhost:2" },
        config: services,
        expected: "http://localhost:1",
      },
    ],
    [
      "either variable goes before the files",
      { env: { AWS_ENDPOINT_URL: "http://localhost:2" }, config: services, expected: "http://localhost:2" },
    ],
    [
      "an empty variable says nothing",
      { env: { AWS_ENDPOINT_URL_DYNAMODB: "", AWS_ENDPOINT_URL: "http://localhost:2" }, expected: "http://localhost:2" },
    ],
    ["the services section goes before the profile", { config: services, expected: "http://localhost:3" }],
    [
      "a services section without DynamoDB leaves the profile's",
      {
        config:
          "[default]\nservices = mine\nendpoint_url = http://localhost:4\n[services mine]\ns3 =\n  endpoint_url = http://localhost:5\n",
        expected: "http://localhost:4",
      },
    ],
    [
      "a profile that is named",
      {
        config: "[default]\nendpoint_url = http://localhost:6\n[profile work]\nendpoint_url = http://localhost:7 # mine\n",
        profile: "work",
        expected: "http://localhost:7",
      },
    ],
    [
      "AWS_PROFILE",
      { env: { AWS_PROFILE: "work" }, config: "[profile work]\nendpoint_url = http://localhost:7\n", expected: "http://localhost:7" },
    ],
    ["the credentials file", { credentials: "[default]\nendpoint_url = http://localhost:8\n", expected: "http://localhost:8" }],
    [
      "a nested setting of another name is none of the profile's",
      { config: "[default]\ns3 =\n  endpoint_url = http://localhost:5\n", expected: undefined },
    ],
    [
      "ignored, by variable",
      {
        env: { AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true", AWS_ENDPOINT_URL: "http://localhost:2" },
        config: services,
        expected: undefined,
      },
    ],
    [
      "ignored, by the profile, variables too",
      {
        env: { AWS_ENDPOINT_URL: "http://localhost:2" },
        config: services.replace("[default]", "[default]\nignore_configured_endpoint_urls = true"),
        expected: undefined,
      },
    ],
    [
      "not ignored: the variable goes before the profile",
      {
        env: { AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "false" },
        config: services.replace("[default]", "[default]\nignore_configured_endpoint_urls = true"),
        expected: "http://localhost:3",
      },
    ],
  ])("%s", async (_, { env = {}, config, credentials, profile, expected }) => {
    // A folder for each: AWS's client reads a file once.
    const own = mkdtempSync(join(folder, "case-"));
    if (config !== undefined) writeFileSync(join(own, "config"), config);
    if (credentials !== undefined) writeFileSync(join(own, "credentials"), credentials);
    const all = { AWS_CONFIG_FILE: join(own, "config"), AWS_SHARED_CREDENTIALS_FILE: join(own, "credentials"), ...env };
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
    expect(configuredEndpoint(profile)?.url).toBe(expected);
    // AWS's client takes the endpoint of AWS_PROFILE also where another profile is named to it; the guide does not say so.
    if (profile === undefined) expect(await inClient()).toBe(expected);
  });

  test.each([
    [{ AWS_ENDPOINT_URL: "localhost" }, 'AWS_ENDPOINT_URL "localhost" is not a URL'],
    [{ AWS_ENDPOINT_URL_DYNAMODB: "http://dynamodb:8000" }, 'AWS_ENDPOINT_URL_DYNAMODB "http://dynamodb:8000" would send data unencrypted'],
    [{ AWS_ENDPOINT_URL: "http://localhost:4566/path" }, 'AWS_ENDPOINT_URL "http://localhost:4566/path" has a path'],
    [{ AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "yes" }, 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is "yes": set it to true or false'],
  ])("%j is refused by name", (env, message) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(() => createLeanTransport({ region: "eu-west-1" })).toThrow(refusal("plan.invalidOption", message));
  });

  test("a services section that is not there is refused by name", () => {
    writeFileSync(join(folder, "config"), "[default]\nservices = lost\n");
    expect(() => createLeanTransport({ region: "eu-west-1" })).toThrow(refusal("plan.invalidOption", "has no [services lost]"));
  });

  test("an option goes before all of them", () => {
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "not a URL");
    expect(() => createLeanTransport({ endpoint: "http://localhost:1" })).not.toThrow();
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
