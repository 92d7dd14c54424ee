//! Source files that look real, in several languages, from a number.

use crate::random::Random;

/// Extensions that [`source`] writes for.
pub const EXTENSIONS: &[&str] =
    &["rs", "py", "ts", "go", "java", "rb", "md", "json", "txt", "c", "yaml", "sh"];

const VERBS: &[&str] = &[
    "load", "parse", "refresh", "validate", "expire", "render", "connect", "encode", "merge",
    "resolve",
];
const NOUNS: &[&str] = &[
    "Session", "Token", "Config", "Request", "Route", "Cache", "User", "Index", "Buffer",
    "Invoice", "Ledger", "Shipment",
];
const REMARKS: &[&str] = &[
    "Called before every request that carries a token.",
    "The caller holds the lock.",
    "Größe in bytes; 设置 lives beside it.",
    "An expired entry is dropped, not refreshed.",
    "See the overview of the routes.",
    "Rounds half up, as the invoice does.",
];

/// Questions whose answers lie in such files.
pub const QUERIES: &[&str] = &[
    "where is the session token refreshed",
    "parse config",
    "LedgerStore",
    "validate_request",
    "how do we expire a cache entry?",
    "=>",
    "readme overview of the routes",
    "merge user buffer into index and resolve the connection",
    "größe 设置",
    "test for invoice rendering",
    "x",
];

/// The text of a file with this extension.
pub fn source(extension: &str, seed: u64) -> String {
    let random = &mut Random::new(seed, 0);
    let n_items = 1 + random.below(5);
    let (head, tail) = match extension {
        "rs" => ("use std::collections::HashMap;\n\n", ""),
        "py" => ("import os\nfrom typing import Any\n\n\n", ""),
        "ts" => ("import { Store } from './store';\n\n", ""),
        "go" => ("package store\n\nimport \"fmt\"\n\n", ""),
        "java" => ("package store;\n\npublic class Store {\n", "}\n"),
        "rb" => ("require 'set'\n\nmodule Store\n", "end\n"),
        "json" => ("{\n", "  \"version\": 1\n}\n"),
        "sh" => ("#!/bin/sh\nset -eu\n\n", ""),
        _ => ("", ""),
    };
    let mut text = head.to_owned();
    for at in 0..n_items {
        text.push_str(&item(extension, random, at));
    }
    text.push_str(tail);
    if random.below(8) == 0 { text.replace('\n', "\r\n") } else { text }
}

fn item(extension: &str, random: &mut Random, at: usize) -> String {
    let verb = *random.pick(VERBS);
    let noun = *random.pick(NOUNS);
    let other = *random.pick(NOUNS);
    let remark = *random.pick(REMARKS);
    let number = random.below(10_000);
    let lower = noun.to_lowercase();
    let small = other.to_lowercase();
    let n_lines = 1 + random.below(10);
    let body = |line: String| line.repeat(n_lines);
    match extension {
        "rs" => format!(
            "/// {remark}\npub struct {noun}Store {{\n    {small}: u64,\n}}\n\nimpl {noun}Store {{\n    pub fn {verb}_{lower}(&mut self, {small}: &str) -> u64 {{\n{}        self.{small}\n    }}\n}}\n\n",
            body(format!("        self.{small} += {small}.len() as u64 + {number};\n"))
        ),
        "py" => format!(
            "class {noun}Store{at}:\n    \"\"\"{remark}\"\"\"\n\n    def {verb}_{lower}(self, {small}: Any) -> int:\n{}        return len({small})\n\n\n",
            body(format!("        self.{small} = os.path.join('{small}', str({number}))\n"))
        ),
        "ts" => format!(
            "/** {remark} */\nexport function {verb}{noun}({small}: string): number {{\n{}  return {small}.length;\n}}\n\n",
            body(format!("  const x{number} = [{small}].map((y) => y.trim());\n"))
        ),
        "go" => format!(
            "// {verb}{noun} {remark}\nfunc (s *{other}Store) {verb}{noun}{at}({small} string) error {{\n{}\treturn nil\n}}\n\n",
            body(format!("\tfmt.Println({small}, {number})\n"))
        ),
        "java" => format!(
            "    /** {remark} */\n    public int {verb}{noun}{at}(String {small}) {{\n{}        return {number};\n    }}\n\n",
            body(format!("        this.{lower} = {small}.trim();\n"))
        ),
        "rb" => format!(
            "  # {remark}\n  class {noun}{at}\n    def {verb}_{lower}({small})\n{}      {small}.size\n    end\n  end\n\n",
            body(format!("      @x = {small}.map {{ |y| y => {number} }}\n"))
        ),
        "c" => format!(
            "/* {remark} */\nint {verb}_{lower}_{at}(struct {small} *x) {{\n{}    return x->size;\n}}\n\n",
            body(format!("    x->{small} = {number};\n"))
        ),
        "md" => format!(
            "# How to {verb} the {lower} {number}\n\n{remark}\n\n{}\n",
            body(format!("The {small} is read first, then the {lower}.\n"))
        ),
        "json" => format!("  \"{verb}{noun}{at}\": {{ \"{small}\": [\"{remark}\", {number}] }},\n"),
        "yaml" => format!("{lower}{at}:\n  {verb}: {small}{number}\n  # {remark}\n"),
        "sh" => format!(
            "# {remark}\n{verb}_{lower}_{at}() {{\n{}}}\n\n",
            body(format!("    echo \"{small} {number}\"\n"))
        ),
        _ => format!("{remark} {number}\n{}\n", body(format!("{verb} the {lower} of {small}\n"))),
    }
}
