//! What does a syntax node define, and under which name?

use tree_sitter::Node;

use super::grammar::{Grammar, NameAt, Ready, Role, Special};
use super::special;
use crate::chunk::outline::{ItemKind, Symbol};

/// A longer name is no identifier.
const MAX_NAME_BYTES: usize = 120;

/// Wrappers in wrappers, declarators in declarators: more levels than anybody writes.
const MAX_WRAPPERS: usize = 12;

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum Scope {
    /// At the top or in a namespace.
    Top,
    /// In a class.
    Class,
    /// In a function.
    Local,
}

/// A definition found in a node.
pub(in crate::chunk) struct Definition<'t> {
    pub(in crate::chunk) kind: ItemKind,
    pub(in crate::chunk) name: Option<String>,
    pub(in crate::chunk) symbols: Vec<Symbol>,
    /// The node whose children are the members or statements.
    pub(in crate::chunk) inner: Node<'t>,
    /// A record type becomes a class if it has functions inside.
    pub(in crate::chunk) may_be_class: bool,
}

impl<'t> Definition<'t> {
    /// A definition of `kind` whose name, if any, is also a symbol.
    pub(in crate::chunk) fn new(kind: ItemKind, name: Option<Symbol>, inner: Node<'t>) -> Self {
        Self {
            kind,
            name: name.as_ref().map(|symbol| symbol.name.clone()),
            symbols: name.into_iter().collect(),
            inner,
            may_be_class: false,
        }
    }

    /// The same without a symbol.
    pub(in crate::chunk) fn without_symbol(mut self) -> Self {
        self.symbols.clear();
        self
    }
}

/// What a node is.
pub(in crate::chunk) enum Meaning<'t> {
    Definition(Definition<'t>),
    /// Its children belong to the node around it.
    Body,
    Comment,
    /// Belongs to the node after it.
    Attribute,
    Plain,
}

/// Finds definitions in one text.
#[derive(Clone, Copy)]
pub(in crate::chunk) struct Definer<'a> {
    pub(in crate::chunk) text: &'a str,
    pub(in crate::chunk) grammar: &'a Grammar,
    pub(in crate::chunk) ready: &'a Ready,
    /// Name for what has none: the stem of the file's name.
    pub(in crate::chunk) stem: &'a str,
}

impl<'a> Definer<'a> {
    /// What `node` is where it stands.
    pub(in crate::chunk) fn meaning<'t>(&self, node: Node<'t>, scope: Scope) -> Meaning<'t> {
        self.meaning_at(node, scope, MAX_WRAPPERS)
    }

    pub(in crate::chunk) fn meaning_at<'t>(
        &self,
        node: Node<'t>,
        scope: Scope,
        levels: usize,
    ) -> Meaning<'t> {
        if node.is_error() {
            return Meaning::Body;
        }
        let Some((role, name_at)) = self.ready.rule(node.kind_id()) else { return Meaning::Plain };
        let kind = match role {
            Role::Body => return Meaning::Body,
            Role::Comment => return Meaning::Comment,
            Role::Attribute => return Meaning::Attribute,
            Role::Special => return special::meaning(self, node, scope, levels),
            Role::Wrapper => return self.wrapped(node, scope, levels),
            Role::Value if scope == Scope::Local => return Meaning::Plain,
            Role::Variable if scope != Scope::Top => return Meaning::Plain,
            Role::Function => ItemKind::Function,
            Role::Class | Role::Extension => ItemKind::Class,
            Role::Type | Role::Struct => ItemKind::Type,
            Role::Namespace => ItemKind::Namespace,
            Role::Value | Role::Variable | Role::Rule => ItemKind::Value,
        };
        if matches!(role, Role::Struct | Role::Type | Role::Class)
            && self.grammar.special == Special::C
            && node.kind().ends_with("_specifier")
            && node.child_by_field_name("body").is_none()
        {
            return Meaning::Plain;
        }
        let mut name = self.name(node, name_at);
        if matches!(role, Role::Function | Role::Extension)
            && let Some(name) = &mut name
        {
            self.shorten(name);
        }
        let mut definition = Definition::new(kind, name, node);
        definition.may_be_class = role == Role::Struct;
        if matches!(role, Role::Extension | Role::Rule) {
            definition.symbols.clear();
        }
        if self.grammar.special == Special::Script && kind == ItemKind::Function {
            definition.kind = special::script_function_kind(self, definition.name.as_deref(), node);
        }
        Meaning::Definition(definition)
    }

    /// The definitions that a wrapper holds, as one.
    fn wrapped<'t>(&self, node: Node<'t>, scope: Scope, levels: usize) -> Meaning<'t> {
        if levels == 0 {
            return Meaning::Plain;
        }
        let mut found: Vec<Definition<'t>> = Vec::new();
        let mut pending = vec![node];
        while let Some(holder) = pending.pop() {
            let mut cursor = holder.walk();
            for child in holder.named_children(&mut cursor) {
                match self.meaning_at(child, scope, levels - 1) {
                    Meaning::Definition(definition) => found.push(definition),
                    Meaning::Body if holder == node => pending.push(child),
                    _ => {}
                }
            }
        }
        if found.len() > 1 {
            let mut all = Definition::new(found[0].kind, None, node);
            all.symbols = found.into_iter().flat_map(|definition| definition.symbols).collect();
            return Meaning::Definition(all);
        }
        found.pop().map_or(Meaning::Plain, Meaning::Definition)
    }

    /// The name of `node`, as the table says.
    pub(in crate::chunk) fn name(&self, node: Node, at: NameAt) -> Option<Symbol> {
        match at {
            NameAt::Nowhere => None,
            NameAt::Fixed(name) => {
                Some(Symbol { offset: node.start_byte(), name: name.to_owned() })
            }
            NameAt::Field(field) => {
                node.child_by_field_name(field).and_then(|name| self.symbol(self.innermost(name)))
            }
            NameAt::Child(kind) => {
                let mut cursor = node.walk();
                let child = node.named_children(&mut cursor).find(|child| child.kind() == kind);
                child.and_then(|child| self.symbol(child))
            }
            NameAt::Declarator => self.declared(node),
            NameAt::Inside => inside(node, 4).and_then(|name| self.symbol(name)),
            NameAt::Selector => {
                let text = &self.text[node.byte_range()];
                let selector = text.split(['{', ';']).next().unwrap_or("");
                let name = selector.split_whitespace().collect::<Vec<_>>().join(" ");
                let is_usable = !name.is_empty() && name.len() <= MAX_NAME_BYTES;
                is_usable.then_some(Symbol { offset: node.start_byte(), name })
            }
        }
    }

    /// A generic type's own name.
    fn innermost<'t>(&self, node: Node<'t>) -> Node<'t> {
        match node.kind() {
            "generic_type" | "template_type" => node
                .child_by_field_name("type")
                .or_else(|| node.child_by_field_name("name"))
                .unwrap_or(node),
            _ => node,
        }
    }

    /// The name at the end of a chain of declarators.
    pub(in crate::chunk) fn declared(&self, node: Node) -> Option<Symbol> {
        let mut node = node.child_by_field_name("declarator")?;
        for _ in 0..MAX_WRAPPERS {
            let next = node.child_by_field_name("declarator").or_else(|| match node.kind() {
                "qualified_identifier" | "template_function" => node.child_by_field_name("name"),
                "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" => {
                    node.named_child(0)
                }
                _ => None,
            });
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        self.symbol(node)
    }

    /// The text of `node` as a name, quotes removed.
    pub(in crate::chunk) fn symbol(&self, node: Node) -> Option<Symbol> {
        let text = &self.text[node.byte_range()];
        let name = text.trim().trim_matches(['"', '\'', '`']).trim();
        let is_name = !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains('\n');
        is_name.then(|| Symbol { offset: node.start_byte(), name: name.to_owned() })
    }

    /// Of `a::b`, `a.b` and `a:b` only the last part is the function's name.
    fn shorten(&self, symbol: &mut Symbol) {
        if self.grammar.special == Special::Zig {
            return;
        }
        let name = symbol.name.trim_end_matches(['.', ':']);
        if let Some(at) = name.rfind(['.', ':']) {
            let last = name[at + 1..].trim();
            if !last.is_empty() && !name.starts_with("operator") {
                symbol.name = last.to_owned();
            }
        }
    }
}

/// The first `name` field or identifier within `levels` levels.
pub(in crate::chunk) fn inside(node: Node<'_>, levels: usize) -> Option<Node<'_>> {
    if levels == 0 {
        return None;
    }
    if let Some(name) = node.child_by_field_name("name") {
        return if name.named_child_count() > 0 {
            inside(name, levels - 1).or(Some(name))
        } else {
            Some(name)
        };
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        let kind = child.kind();
        if matches!(kind, "identifier" | "simple_identifier" | "name" | "type_identifier") {
            return Some(child);
        }
        if !kind.contains("modifier")
            && !kind.contains("annotation")
            && !kind.ends_with("type")
            && let Some(found) = inside(child, levels - 1)
        {
            return Some(found);
        }
    }
    None
}
