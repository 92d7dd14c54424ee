//! How a grammar's node kinds map to items.

use std::sync::OnceLock;

use tree_sitter::Language;

/// What a node kind means for the outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum Role {
    Function,
    Class,
    /// Adds members to a class defined elsewhere, whose name it therefore does not define.
    Extension,
    Type,
    /// A type, or a class if it has functions inside.
    Struct,
    Namespace,
    /// Constant wherever it stands outside functions.
    Value,
    /// Variable that counts only outside classes and functions.
    Variable,
    /// Block with a name that is no identifier, such as a style rule.
    Rule,
    /// Holds one or more definitions: decorated, exported, templated.
    Wrapper,
    /// Its children are the children of the node around it.
    Body,
    Comment,
    /// Belongs to the node after it.
    Attribute,
    /// Asks [`Grammar::special`].
    Special,
}

/// Where the name of a definition stands.
#[derive(Clone, Copy, Debug)]
pub(in crate::chunk) enum NameAt {
    Nowhere,
    /// In that field.
    Field(&'static str),
    /// In the first named child of that kind.
    Child(&'static str),
    /// At the end of a chain of declarators (C and its kin).
    Declarator,
    /// In the first `name` field or identifier found within three levels.
    Inside,
    /// It is the text before the first brace.
    Selector,
    /// Always the same.
    Fixed(&'static str),
}

/// One row of a language's table.
pub(in crate::chunk) type Rule = (&'static str, Role, NameAt);

/// The rules that need code, by family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum Special {
    None,
    Script,
    C,
    Python,
    Ruby,
    Lua,
    R,
    Elixir,
    Hcl,
    Swift,
    Zig,
    /// Constants among the fields (Java, C#).
    Fields,
}

/// One grammar and its rules.
pub(in crate::chunk) struct Grammar {
    pub(in crate::chunk) language: fn() -> Language,
    pub(in crate::chunk) rules: &'static [Rule],
    pub(in crate::chunk) special: Special,
    /// Neighbouring functions of one name are one item (equations, clauses).
    pub(in crate::chunk) merges_same_name: bool,
    pub(in crate::chunk) ready: OnceLock<Ready>,
}

/// A grammar made ready for use: its language, and the rule of each kind number.
pub(in crate::chunk) struct Ready {
    pub(in crate::chunk) language: Language,
    rules: Vec<Option<(Role, NameAt)>>,
}

impl Grammar {
    /// A grammar whose rules need no code.
    pub(in crate::chunk) const fn new(language: fn() -> Language, rules: &'static [Rule]) -> Self {
        let ready = OnceLock::new();
        Self { language, rules, special: Special::None, merges_same_name: false, ready }
    }

    /// The same with rules in code.
    pub(in crate::chunk) const fn special(mut self, special: Special) -> Self {
        self.special = special;
        self
    }

    /// The same, neighbouring functions of one name being one.
    pub(in crate::chunk) const fn merging(mut self) -> Self {
        self.merges_same_name = true;
        self
    }

    /// The language and the look-up table; made once.
    pub(in crate::chunk) fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            let language = (self.language)();
            let rule_of = |kind: &str| {
                self.rules.iter().find(|rule| rule.0 == kind).map(|rule| (rule.1, rule.2))
            };
            let rules = (0..language.node_kind_count())
                .map(|id| {
                    let id = u16::try_from(id).ok()?;
                    let is_named = language.node_kind_is_named(id);
                    language.node_kind_for_id(id).filter(|_| is_named).and_then(rule_of)
                })
                .collect();
            Ready { language, rules }
        })
    }
}

impl Ready {
    /// The rule of a node kind.
    pub(in crate::chunk) fn rule(&self, kind_id: u16) -> Option<(Role, NameAt)> {
        self.rules.get(usize::from(kind_id)).copied().flatten()
    }
}
