import { defineConfig } from "vitepress";

/** A page of `docs`, as the sidebar names it. */
const page = (text: string, name: string) => ({ text, link: `/${name}` });

export default defineConfig({
  title: "Edgetable",
  description: "A typed property graph in one Amazon DynamoDB table, for TypeScript",
  srcDir: "../docs",
  outDir: "dist",
  cacheDir: "dist/cache",
  cleanUrls: true,
  // Pages link to other files of the repository, which are not on the site.
  markdown: {
    config: (markdown) => {
      markdown.core.ruler.push("links-within-the-site", ({ tokens }) => {
        for (const { children } of tokens)
          for (const [at, token] of (children ?? []).entries()) {
            if (token.type !== "link_open" || !token.attrGet("href")?.startsWith("../")) continue;
            const closing = children?.slice(at).find(({ type }) => type === "link_close");
            for (const one of [token, closing]) if (one) Object.assign(one, { type: "text", tag: "", content: "", nesting: 0 });
          }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    docFooter: { prev: false, next: false },
    sidebar: [
      { text: "Start", items: [page("Overview", "index"), page("Guide", "guide"), page("Coming from other libraries", "coming-from")] },
      {
        text: "Model",
        items: [
          page("Layouts", "layout"),
          page("Indexes and searches", "indexes"),
          page("Expiry", "expiry"),
          page("Tenants", "tenancy"),
          page("Grids", "grids"),
        ],
      },
      { text: "Read", items: [page("Walks", "walks")] },
      {
        text: "Over time",
        items: [page("Streams", "streams"), page("Migrations", "migrations"), page("Verification and repair", "verify")],
      },
      {
        text: "Run",
        items: [
          page("AWS Lambda", "lambda"),
          page("Web frameworks", "web"),
          page("Tests with Vitest and Jest", "testing"),
          page("Observability", "observability"),
          page("Permissions", "permissions"),
          page("Studio", "studio"),
        ],
      },
      { text: "Reference", items: [page("Errors", "errors"), page("Transport", "transport"), page("Engines", "engines")] },
      { text: "Inside", items: [page("Published files", "bundle"), page("Dependencies", "dependencies")] },
    ],
  },
});
