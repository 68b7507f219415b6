import type { Root } from "hast";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import nginx from "highlight.js/lib/languages/nginx";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const lowlight = createLowlight({
  bash, css, diff, dockerfile, go, ini, java, javascript, json, markdown, nginx, python, ruby, rust, sql, typescript, xml, yaml,
});
lowlight.registerAlias({ bash: ["sh", "shell", "console", "zsh"], ini: ["toml", "conf"], xml: ["html", "svg"], typescript: ["ts", "tsx"], javascript: ["js", "jsx", "mjs"], python: ["py"], yaml: ["yml"], rust: ["rs"], markdown: ["md"] });

export function highlight(code: string, language: string): Root | undefined {
  const name = language.toLowerCase();
  return lowlight.registered(name) ? lowlight.highlight(name, code) : undefined;
}

