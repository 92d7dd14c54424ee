//! Code that looks real, in several languages, from a number.

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): small, and the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

const VERBS: &[&str] =
    &["load", "parse", "refresh", "validate", "expire", "render", "connect", "encode", "merge"];
const NOUNS: &[&str] = &[
    "Session", "Token", "Config", "Request", "Route", "Cache", "User", "Index", "Buffer", "Invoice",
];
const REMARKS: &[&str] = &[
    "Called before every request that carries a token.",
    "The caller holds the lock.",
    "Größe in bytes; 设置 lives beside it.",
    "An expired entry is dropped, not refreshed.",
    "See the overview of the routes.",
];

/// Extensions that [`source`] writes for.
pub const EXTENSIONS: &[&str] =
    &["rs", "py", "ts", "go", "java", "rb", "md", "json", "txt", "tsx", "c", "yaml"];

/// The text of a file with this extension.
pub fn source(extension: &str, seed: u64) -> String {
    let random = &mut Random(seed);
    let n = 1 + random.below(6);
    let mut text = match extension {
        "rs" => "//! Part of the store.\nuse std::collections::HashMap;\n\n".to_owned(),
        "py" => "import os\nfrom typing import Any\n\n\n".to_owned(),
        "ts" | "tsx" => "import { Store } from './store';\n\n".to_owned(),
        "go" => "package store\n\nimport \"fmt\"\n\n".to_owned(),
        "java" => "package store;\n\npublic class Store {\n".to_owned(),
        "rb" => "require 'set'\n\nmodule Store\n".to_owned(),
        "json" => "{\n".to_owned(),
        _ => String::new(),
    };
    for at in 0..n {
        text.push_str(&item(extension, random, at));
    }
    match extension {
        "java" => text.push_str("}\n"),
        "rb" => text.push_str("end\n"),
        "json" => text.push_str("  \"version\": 1\n}\n"),
        _ => {}
    }
    if random.below(6) == 0 { text.replace('\n', "\r\n") } else { text }
}

fn item(extension: &str, random: &mut Random, at: usize) -> String {
    let verb = *random.pick(VERBS);
    let noun = *random.pick(NOUNS);
    let other = *random.pick(NOUNS);
    let remark = *random.pick(REMARKS);
    let lower = noun.to_lowercase();
    let small = other.to_lowercase();
    let n_lines = 1 + random.below(12);
    let body = |line: &str| line.repeat(n_lines);
    match extension {
        "rs" => format!(
            "/// {remark}\npub struct {noun}Store {{ {small}: u64 }}\n\nimpl {noun}Store {{\n    pub fn {verb}_{lower}(&mut self, {small}: &str) -> Option<u64> {{\n{}        Some(self.{small})\n    }}\n}}\n\n",
            body(&format!("        self.{small} = {small}.len() as u64 + {at};\n"))
        ),
        "py" => format!(
            "class {noun}Store{at}:\n    \"\"\"{remark}\"\"\"\n\n    def {verb}_{lower}(self, {small}: Any) -> int:\n{}        return len({small})\n\n\n",
            body(&format!("        self.{small} = os.path.join('{small}', str({at}))\n"))
        ),
        "ts" => format!(
            "/** {remark} */\nexport function {verb}{noun}({small}: string): number {{\n{}  return {small}.length;\n}}\n\n",
            body(&format!("  const x{at} = [{small}].map((y) => y.trim());\n"))
        ),
        "tsx" => format!(
            "export function {noun}View{at}() {{\n{}  return <div>{{{small}}}</div>;\n}}\n\n",
            body(&format!("  const {small} = use{other}('{verb}');\n"))
        ),
        "go" => format!(
            "// {verb}{noun} {remark}\nfunc (s *{other}Store) {verb}{noun}{at}({small} string) error {{\n{}\treturn nil\n}}\n\n",
            body(&format!("\tfmt.Println({small}, s.x)\n"))
        ),
        "java" => format!(
            "    /** {remark} */\n    public int {verb}{noun}{at}(String {small}) {{\n{}        return {small}.length();\n    }}\n\n",
            body(&format!("        this.{lower} = {small}.trim();\n"))
        ),
        "rb" => format!(
            "  # {remark}\n  class {noun}{at}\n    def {verb}_{lower}({small})\n{}      {small}.size\n    end\n  end\n\n",
            body(&format!("      @x = {small}.map {{ |y| y => {at} }}\n"))
        ),
        "c" => format!(
            "/* {remark} */\nint {verb}_{lower}_{at}(struct {small} *x) {{\n{}    return x->size;\n}}\n\n",
            body(&format!("    x->{small} = {at};\n"))
        ),
        "md" => format!(
            "# How to {verb} the {lower}\n\n{remark}\n\n{}\n",
            body(&format!("The {small} is read first, then the {lower}.\n"))
        ),
        "json" => format!("  \"{verb}{noun}{at}\": {{ \"{small}\": [\"{remark}\"] }},\n"),
        "yaml" => format!("{lower}{at}:\n  {verb}: {small}\n  # {remark}\n"),
        _ => format!("{remark}\n{}\n", body(&format!("{verb} the {lower} of the {small}\n"))),
    }
}
