const BY_ENDING: Record<string, string> = {
  rs: "rust", ts: "typescript", tsx: "typescript", js: "javascript", jsx: "javascript", mjs: "javascript", py: "python",
  sh: "bash", bash: "bash", yml: "yaml", yaml: "yaml", json: "json", toml: "toml", md: "markdown", html: "html", css: "css",
  sql: "sql", go: "go", rb: "ruby", java: "java", conf: "nginx", svg: "xml", xml: "xml", ini: "ini", diff: "diff", patch: "diff",
};

/** The language of a file, by its name. */
export function languageOf(path: string): string | undefined {
  const name = path.split("/").at(-1) ?? "";
  if (/^dockerfile/i.test(name)) return "dockerfile";
  return BY_ENDING[name.split(".").at(-1)?.toLowerCase() ?? ""];
}
