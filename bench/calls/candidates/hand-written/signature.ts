import { createHmac, hash } from "node:crypto";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

/** The two headers that sign one request: its time and its signature. */
export interface Signed {
  readonly date: string;
  readonly authorization: string;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const signedHeaders = "host;x-amz-date;x-amz-target";

/**
 * Signature Version 4 for DynamoDB's one kind of request, `POST /`. The signing key changes once a
 * day and the time text once a second, so both are kept.
 */
export const createSigner = (credentials: Credentials, host: string): ((target: string, body: string) => Signed) => {
  let second = 0;
  let date = "";
  let scope = "";
  let key: Buffer = Buffer.alloc(0);
  const turnDay = (day: string): void => {
    scope = `${day}/${credentials.region}/dynamodb/aws4_request`;
    key = [credentials.region, "dynamodb", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${credentials.secretAccessKey}`, day));
  };
  const tick = (now: number): void => {
    second = now;
    date = new Date(now * 1000).toISOString().replace(/[-:]|\.\d+/g, "");
    if (!scope.startsWith(date.slice(0, 8))) turnDay(date.slice(0, 8));
  };
  return (target, body) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) tick(now);
    const canonical = `POST\n/\n\nhost:${host}\nx-amz-date:${date}\nx-amz-target:${target}\n\n${signedHeaders}\n${hash("sha256", body)}`;
    const signature = createHmac("sha256", key)
      .update(`AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash("sha256", canonical)}`)
      .digest("hex");
    return {
      date,
      authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`,
    };
  };
};
