import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { defaultCredentials } from "./credentials.ts";

// What AWS runs beside a program (metadata service, container agent, STS, SSO portal) speaks plain
// HTTP on an address that the environment names: here it is answered on 127.0.0.1.

const keys = { AccessKeyId: "AKIDFOUND", SecretAccessKey: "secret", Token: "token", Expiration: "2099-01-01T00:00:00Z" };
const found = { accessKeyId: "AKIDFOUND", secretAccessKey: "secret", sessionToken: "token" };

type Answer = (request: IncomingMessage, body: string) => string | undefined;

let home: string;
let stop: () => Promise<void>;

/** Answers on 127.0.0.1 and gives the URL; what it has no answer for is a 404. */
const serve = async (answer: Answer): Promise<string> => {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const text = answer(request, body);
      response.writeHead(text === undefined ? 404 : 200).end(text);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  stop = () => new Promise((done) => server.close(() => done()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "edgetable-aws-"));
  stop = async () => undefined;
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
  vi.stubEnv("AWS_REGION", "eu-central-1");
  mkdirSync(join(home, ".aws", "sso", "cache"), { recursive: true });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await stop();
  rmSync(home, { recursive: true });
});

test("a container's agent gives credentials, asked with its token", async () => {
  const url = await serve(({ url: path, headers }) =>
    path === "/v2/credentials/task" && headers.authorization === "pod-token" ? JSON.stringify(keys) : undefined,
  );
  vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${url}/v2/credentials/task`);
  vi.stubEnv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod-token");
  expect(await defaultCredentials()()).toMatchObject(found);
});

test("an instance's role gives credentials, by a session of the metadata service", async () => {
  const role = "/latest/meta-data/iam/security-credentials/";
  const url = await serve(({ method, url: path, headers }) => {
    if (method === "PUT" && path === "/latest/api/token") return "session";
    if (headers["x-aws-ec2-metadata-token"] !== "session") return undefined;
    if (path === role) return "web-server";
    return path === `${role}web-server` ? JSON.stringify({ Code: "Success", ...keys }) : undefined;
  });
  vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url);
  expect(await defaultCredentials()()).toMatchObject(found);
});

test("a web identity's token is changed into credentials by STS", async () => {
  const url = await serve((_, body) => {
    const form = new URLSearchParams(body);
    if (form.get("Action") !== "AssumeRoleWithWebIdentity" || form.get("WebIdentityToken") !== "jwt") return undefined;
    return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
      <AccessKeyId>${keys.AccessKeyId}</AccessKeyId><SecretAccessKey>${keys.SecretAccessKey}</SecretAccessKey>
      <SessionToken>${keys.Token}</SessionToken><Expiration>${keys.Expiration}</Expiration>
      </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  });
  writeFileSync(join(home, "token"), "jwt");
  vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", join(home, "token"));
  vi.stubEnv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/pod");
  vi.stubEnv("AWS_ENDPOINT_URL_STS", url);
  expect(await defaultCredentials()()).toMatchObject(found);
});

test("a profile of IAM Identity Center gives credentials while its login lasts", async () => {
  const url = await serve(({ url: path, headers }) => {
    if (!path?.startsWith("/federation/credentials?") || headers["x-amz-sso_bearer_token"] !== "login") return undefined;
    const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken } = keys;
    return JSON.stringify({ roleCredentials: { accessKeyId, secretAccessKey, sessionToken, expiration: Date.parse(keys.Expiration) } });
  });
  writeFileSync(
    join(home, ".aws", "config"),
    `[profile dev]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = Dev\nregion = eu-central-1\n
[sso-session corp]\nsso_region = eu-central-1\nsso_start_url = https://corp.example/start\n`,
  );
  const cached = `${createHash("sha1").update("corp").digest("hex")}.json`;
  writeFileSync(join(home, ".aws", "sso", "cache", cached), JSON.stringify({ accessToken: "login", expiresAt: keys.Expiration }));
  vi.stubEnv("AWS_ENDPOINT_URL_SSO", url);
  expect(await defaultCredentials({ profile: "dev" })()).toMatchObject(found);
});

test("a profile's role is assumed with the credentials of its source profile", async () => {
  const url = await serve((_, body) => {
    const form = new URLSearchParams(body);
    if (form.get("Action") !== "AssumeRole" || form.get("RoleArn") !== "arn:aws:iam::123456789012:role/admin") return undefined;
    return `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
      <AccessKeyId>${keys.AccessKeyId}</AccessKeyId><SecretAccessKey>${keys.SecretAccessKey}</SecretAccessKey>
      <SessionToken>${keys.Token}</SessionToken><Expiration>${keys.Expiration}</Expiration>
      </Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  });
  writeFileSync(
    join(home, ".aws", "config"),
    `[profile admin]\nrole_arn = arn:aws:iam::123456789012:role/admin\nsource_profile = base\nregion = eu-central-1\n
[profile base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = base\n`,
  );
  vi.stubEnv("AWS_ENDPOINT_URL_STS", url);
  expect(await defaultCredentials({ profile: "admin" })()).toMatchObject(found);
});
