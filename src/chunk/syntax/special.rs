//! The rules that a table cannot hold.

use memchr::memmem;
use tree_sitter::Node;

use super::define::{Definer, Definition, Meaning, Scope, inside};
use super::grammar::Special;
use crate::chunk::outline::{ItemKind, Symbol};

/// Nodes looked at in the search for JSX in one function.
const MAX_JSX_NODES: usize = 20_000;

/// What a node with a `Special` role is.
pub(super) fn meaning<'t>(
    definer: &Definer,
    node: Node<'t>,
    scope: Scope,
    levels: usize,
) -> Meaning<'t> {
    if levels == 0 {
        return Meaning::Plain;
    }
    let definition = match definer.grammar.special {
        Special::Script => script(definer, node, scope, levels - 1),
        Special::C => c(definer, node, scope),
        Special::Python => python(definer, node, scope),
        Special::Ruby => ruby(definer, node, scope),
        Special::Lua => lua(definer, node, scope),
        Special::R => r(definer, node, scope),
        Special::Elixir => return elixir(definer, node),
        Special::Hcl => hcl(definer, node, scope),
        Special::Swift => swift(definer, node),
        Special::Zig => zig(definer, node, scope),
        Special::Fields => fields(definer, node),
        Special::None => None,
    };
    definition.map_or(Meaning::Plain, Meaning::Definition)
}

/// Function, hook or component, by its name and whether it holds JSX.
pub(super) fn script_function_kind(definer: &Definer, name: Option<&str>, node: Node) -> ItemKind {
    let name = name.unwrap_or("");
    let is_hook =
        name.strip_prefix("use").is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()));
    if is_hook {
        ItemKind::Hook
    } else if name.starts_with(|c: char| c.is_uppercase()) && holds_jsx(definer, node) {
        ItemKind::Component
    } else {
        ItemKind::Function
    }
}

fn holds_jsx(definer: &Definer, node: Node) -> bool {
    let text = &definer.text.as_bytes()[node.byte_range()];
    if memmem::find(text, b"</").is_none() && memmem::find(text, b"/>").is_none() {
        return false;
    }
    let mut cursor = node.walk();
    for _ in 0..MAX_JSX_NODES {
        if cursor.node().kind().starts_with("jsx_") {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
    false
}

fn is_function_value(node: Node) -> bool {
    matches!(
        node.kind(),
        "arrow_function" | "function_expression" | "generator_function" | "function"
    )
}

/// What a JavaScript value defines under `name`. A call counts as a function if it wraps one into a component or hook.
fn script_value<'t>(
    definer: &Definer,
    name: Option<Symbol>,
    value: Node<'t>,
) -> Option<Definition<'t>> {
    let value = unwrapped(value);
    if is_function_value(value) {
        let kind = script_function_kind(definer, name.as_ref().map(|n| n.name.as_str()), value);
        return Some(Definition::new(kind, name, value));
    }
    if value.kind() == "class" {
        return Some(Definition::new(ItemKind::Class, name, value));
    }
    let is_component_call = value.kind() == "call_expression"
        && name.as_ref().is_some_and(|n| n.name.starts_with(|c: char| c.is_uppercase()))
        && holds_jsx(definer, value);
    if is_component_call {
        let argument = value.child_by_field_name("arguments").and_then(|a| a.named_child(0));
        let inner = argument.filter(|a| is_function_value(*a)).unwrap_or(value);
        return Some(Definition::new(ItemKind::Component, name, inner));
    }
    None
}

/// A value without `as`, `satisfies`, `!` and parentheses around it.
fn unwrapped(mut value: Node) -> Node {
    for _ in 0..4 {
        match value.kind() {
            "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "parenthesized_expression" => match value.named_child(0) {
                Some(inner) => value = inner,
                None => break,
            },
            _ => break,
        }
    }
    value
}

fn script<'t>(
    definer: &Definer,
    node: Node<'t>,
    scope: Scope,
    levels: usize,
) -> Option<Definition<'t>> {
    match node.kind() {
        "export_statement" => Some(exported(definer, node, levels)),
        "lexical_declaration" | "variable_declaration" => variables(definer, node, scope),
        "public_field_definition" | "field_definition" | "pair" => {
            let key = ["name", "property", "key"]
                .iter()
                .find_map(|field| node.child_by_field_name(field))?;
            let value = node.child_by_field_name("value")?;
            let definition = script_value(definer, definer.symbol(key), value)?;
            definition.kind.is_definition().then_some(definition)
        }
        "expression_statement" => {
            let first = node.named_child(0)?;
            if matches!(first.kind(), "internal_module" | "module") {
                let name = first.child_by_field_name("name").and_then(|n| definer.symbol(n));
                return Some(Definition::new(ItemKind::Namespace, name, first));
            }
            if first.kind() != "assignment_expression" {
                return None;
            }
            assigned(definer, first, scope)
        }
        _ => None,
    }
}

/// `a.b = function …`, `module.exports = …`.
fn assigned<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let left = node.child_by_field_name("left")?;
    let right = node.child_by_field_name("right")?;
    let target = &definer.text[left.byte_range()];
    let is_module = target == "module.exports";
    let key = left.child_by_field_name("property").unwrap_or(left);
    let name = if is_module {
        let own = right.child_by_field_name("name").and_then(|name| definer.symbol(name));
        own.or_else(|| Some(Symbol { offset: node.start_byte(), name: definer.stem.to_owned() }))
    } else {
        definer.symbol(key)
    };
    if let Some(definition) = script_value(definer, name.clone(), right) {
        return Some(definition);
    }
    let is_export =
        is_module || target.starts_with("exports.") || target.starts_with("module.exports.");
    let is_export = is_export && scope != Scope::Local;
    is_export.then(|| {
        let definition = Definition::new(ItemKind::Export, name, right);
        if is_module { definition.without_symbol() } else { definition }
    })
}

fn variables<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let mut cursor = node.walk();
    let declarators: Vec<Node> = node
        .named_children(&mut cursor)
        .filter(|child| child.kind() == "variable_declarator")
        .collect();
    let name = |declarator: &Node| {
        declarator
            .child_by_field_name("name")
            .filter(|name| name.kind() == "identifier")
            .and_then(|name| definer.symbol(name))
    };
    if let [only] = declarators.as_slice()
        && let Some(value) = only.child_by_field_name("value")
        && let Some(definition) = script_value(definer, name(only), value)
    {
        return Some(definition);
    }
    if scope == Scope::Local {
        return None;
    }
    let symbols: Vec<Symbol> = declarators.iter().filter_map(name).collect();
    let inner = match declarators.as_slice() {
        [only] => only.child_by_field_name("value").unwrap_or(*only),
        _ => node,
    };
    let mut definition = Definition::new(ItemKind::Value, symbols.first().cloned(), inner);
    definition.symbols = symbols;
    Some(definition)
}

fn exported<'t>(definer: &Definer, node: Node<'t>, levels: usize) -> Definition<'t> {
    let stem = || Some(Symbol { offset: node.start_byte(), name: definer.stem.to_owned() });
    if let Some(declaration) = node.child_by_field_name("declaration")
        && let Meaning::Definition(mut found) = definer.meaning_at(declaration, Scope::Top, levels)
    {
        if found.kind == ItemKind::Value {
            found.kind = ItemKind::Export;
        }
        return found;
    }
    let Some(value) = node.child_by_field_name("value") else {
        return Definition::new(ItemKind::Export, None, node);
    };
    if let Some(own) = value.child_by_field_name("name").and_then(|name| definer.symbol(name))
        && let Some(found) = script_value(definer, Some(own), value)
    {
        return found;
    }
    if let Some(found) = script_value(definer, stem(), value) {
        return found;
    }
    let name = if value.kind() == "identifier" { definer.symbol(value) } else { stem() };
    Definition::new(ItemKind::Export, name, value).without_symbol()
}

fn c<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let declared = || definer.declared(node);
    let record = node
        .child_by_field_name("type")
        .filter(|t| t.kind().ends_with("_specifier") && t.child_by_field_name("body").is_some());
    if node.kind() == "type_definition" {
        let mut definition = Definition::new(ItemKind::Type, declared(), record.unwrap_or(node));
        definition.may_be_class = record.is_some();
        return Some(definition);
    }
    if let Some(record) = record {
        let name = record.child_by_field_name("name").and_then(|name| definer.symbol(name));
        let kind = match record.kind() {
            "class_specifier" => ItemKind::Class,
            _ => ItemKind::Type,
        };
        let mut definition = Definition::new(kind, name.or_else(declared), record);
        definition.may_be_class = kind == ItemKind::Type;
        return Some(definition);
    }
    let declarator = node.child_by_field_name("declarator")?;
    let has_value = declarator.kind() == "init_declarator";
    (has_value && scope == Scope::Top).then(|| Definition::new(ItemKind::Value, declared(), node))
}

fn python<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let assignment = node.named_child(0).filter(|child| child.kind() == "assignment")?;
    let left = assignment.child_by_field_name("left").filter(|left| left.kind() == "identifier")?;
    let inner = assignment.child_by_field_name("right").unwrap_or(assignment);
    (scope == Scope::Top).then(|| Definition::new(ItemKind::Value, definer.symbol(left), inner))
}

fn ruby<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    if node.kind() == "assignment" {
        let left = node.child_by_field_name("left").filter(|left| left.kind() == "constant")?;
        return (scope != Scope::Local)
            .then(|| Definition::new(ItemKind::Value, definer.symbol(left), node));
    }
    let method = node.child_by_field_name("method")?;
    let method = &definer.text[method.byte_range()];
    if let Some(arguments) = node.child_by_field_name("arguments")
        && let Some(argument) = arguments.named_child(0)
        && matches!(argument.kind(), "method" | "singleton_method")
        && let Meaning::Definition(found) = definer.meaning_at(argument, scope, 1)
    {
        return Some(found);
    }
    let is_open = matches!(method, "included" | "class_methods" | "concerning" | "class_eval");
    let block = node.child_by_field_name("block").filter(|_| is_open)?;
    Some(Definition::new(ItemKind::Namespace, None, block))
}

fn lua<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let assignment =
        if node.kind() == "variable_declaration" { node.named_child(0)? } else { node };
    let (names, values) = (assignment.named_child(0)?, assignment.named_child(1));
    let target = names.named_child(0).unwrap_or(names);
    let name = definer.symbol(target.child_by_field_name("field").unwrap_or(target));
    if let Some(value) = values.and_then(|values| values.named_child(0))
        && value.kind() == "function_definition"
    {
        return Some(Definition::new(ItemKind::Function, name, value));
    }
    (scope == Scope::Top).then(|| Definition::new(ItemKind::Value, name, node))
}

fn r<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let operator = node.child_by_field_name("operator")?;
    if !matches!(&definer.text[operator.byte_range()], "<-" | "=" | "<<-") {
        return None;
    }
    let name = definer.symbol(node.child_by_field_name("lhs")?);
    let value = node.child_by_field_name("rhs")?;
    if value.kind() == "function_definition" {
        return Some(Definition::new(ItemKind::Function, name, value));
    }
    (scope == Scope::Top).then(|| Definition::new(ItemKind::Value, name, value))
}

fn elixir<'t>(definer: &Definer, node: Node<'t>) -> Meaning<'t> {
    let text = &definer.text[node.byte_range()];
    if node.kind() == "unary_operator" {
        let belongs = ["@doc", "@spec", "@impl", "@typedoc", "@deprecated", "@callback"];
        let is_attribute = belongs[..5].iter().any(|attribute| text.starts_with(attribute));
        return if is_attribute { Meaning::Attribute } else { Meaning::Plain };
    }
    let Some(target) = node.child_by_field_name("target") else { return Meaning::Plain };
    let mut cursor = node.walk();
    let arguments = node.named_children(&mut cursor).find(|child| child.kind() == "arguments");
    let Some(first) = arguments.and_then(|arguments| arguments.named_child(0)) else {
        return Meaning::Plain;
    };
    let definition = match &definer.text[target.byte_range()] {
        "defmodule" | "defprotocol" => {
            Definition::new(ItemKind::Class, definer.symbol(first), node)
        }
        "defimpl" => Definition::new(ItemKind::Class, definer.symbol(first), node).without_symbol(),
        "def" | "defp" | "defmacro" | "defmacrop" | "defguard" | "defguardp" | "defdelegate" => {
            // `name(args) when guard`, `name(args)` or `name`.
            let mut name = first;
            for _ in 0..3 {
                let next =
                    name.child_by_field_name("left").or_else(|| name.child_by_field_name("target"));
                match next {
                    Some(next) => name = next,
                    None => break,
                }
            }
            Definition::new(ItemKind::Function, definer.symbol(name), node)
        }
        _ => return Meaning::Plain,
    };
    Meaning::Definition(definition)
}

fn hcl<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    if scope != Scope::Top {
        return None;
    }
    let mut cursor = node.walk();
    let labels: Vec<Symbol> = node
        .named_children(&mut cursor)
        .take_while(|child| matches!(child.kind(), "identifier" | "string_lit"))
        .filter_map(|child| definer.symbol(child))
        .collect();
    let offset = labels.first()?.offset;
    let name = labels.iter().map(|label| label.name.as_str()).collect::<Vec<_>>().join(".");
    let mut definition = Definition::new(ItemKind::Value, Some(Symbol { offset, name }), node);
    if labels.len() > 1 {
        definition.symbols.extend(labels.last().cloned());
    }
    Some(definition)
}

fn swift<'t>(definer: &Definer, node: Node<'t>) -> Option<Definition<'t>> {
    let keyword = node.child_by_field_name("declaration_kind")?;
    let name = node.child_by_field_name("name").and_then(|name| definer.symbol(name));
    Some(match keyword.kind() {
        "extension" => Definition::new(ItemKind::Class, name, node).without_symbol(),
        "enum" => Definition::new(ItemKind::Type, name, node),
        "struct" => {
            let mut definition = Definition::new(ItemKind::Type, name, node);
            definition.may_be_class = true;
            definition
        }
        _ => Definition::new(ItemKind::Class, name, node),
    })
}

fn zig<'t>(definer: &Definer, node: Node<'t>, scope: Scope) -> Option<Definition<'t>> {
    let name = inside(node, 2).and_then(|name| definer.symbol(name));
    let mut cursor = node.walk();
    let record = node.named_children(&mut cursor).find(|child| {
        matches!(
            child.kind(),
            "struct_declaration" | "union_declaration" | "enum_declaration" | "opaque_declaration"
        )
    });
    if let Some(record) = record {
        let mut definition = Definition::new(ItemKind::Type, name, record);
        definition.may_be_class = true;
        return Some(definition);
    }
    (scope == Scope::Top).then(|| Definition::new(ItemKind::Value, name, node))
}

/// A field is a definition if it is declared `static` or `const`.
fn fields<'t>(definer: &Definer, node: Node<'t>) -> Option<Definition<'t>> {
    let mut cursor = node.walk();
    let is_constant = node.kind() == "constant_declaration"
        || node.named_children(&mut cursor).take(6).any(|child| {
            let text = &definer.text[child.byte_range()];
            child.kind().starts_with("modifier") && (text.contains("static") || text == "const")
        });
    if !is_constant {
        return None;
    }
    let declarator = node.child_by_field_name("declarator").or_else(|| {
        let mut cursor = node.walk();
        let declaration = node
            .named_children(&mut cursor)
            .find(|child| child.kind() == "variable_declaration")?;
        let mut cursor = declaration.walk();
        declaration.named_children(&mut cursor).find(|c| c.kind() == "variable_declarator")
    })?;
    let name = declarator.child_by_field_name("name").and_then(|name| definer.symbol(name));
    Some(Definition::new(ItemKind::Value, name, node))
}
