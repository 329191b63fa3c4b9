import type { SourceMap } from "magic-string";
export declare const declareFunctions: (code: string) => { code: string; map: SourceMap };
