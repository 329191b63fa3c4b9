import type { OptionSpec } from "./invocation.ts";

/** Options that every command takes, before or after its name. */
export const commonOptions: readonly OptionSpec[] = [
  { flags: "--model <file>", text: "model file, or file#export (default: edgetable.ts, edgetable.config.ts or model.ts, also in src/)" },
  {
    flags: "--endpoint <url>",
    text: "endpoint of DynamoDB, such as http://127.0.0.1:8000 (default: as for the AWS SDK, AWS_ENDPOINT_URL_DYNAMODB, AWS_ENDPOINT_URL, the profile's endpoint_url; else the region's)",
  },
  { flags: "--region <name>", text: "AWS region (default: AWS_REGION or the profile's)" },
  { flags: "--profile <name>", text: "profile of the shared AWS configuration" },
  { flags: "--json", text: "print JSON, and nothing else, on standard output" },
];
