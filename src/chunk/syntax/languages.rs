//! The table of grammars: which node kinds are definitions, where their names stand, what is transparent.

use super::grammar::NameAt::{Child, Declarator, Field, Fixed, Inside, Nowhere, Selector};
use super::grammar::Role::{
    Attribute, Body, Class, Comment, Extension, Function, Namespace, Rule as Style,
    Special as Code, Struct, Type, Value, Variable, Wrapper,
};
use super::grammar::{Grammar, NameAt, Rule, Special};

const NAME: NameAt = Field("name");

/// The grammar for a language id; the path decides where one id covers two grammars.
pub(in crate::chunk) fn grammar(path: &str, language_name: &str) -> Option<&'static Grammar> {
    let is_jsx = path.ends_with(".tsx") || path.ends_with(".jsx");
    Some(match language_name {
        "rust" => &RUST,
        "typescript" if is_jsx => &TSX,
        "typescript" => &TYPESCRIPT,
        "typescriptreact" | "tsx" => &TSX,
        "javascript" | "javascriptreact" | "jsx" => &JAVASCRIPT,
        "python" => &PYTHON,
        "go" => &GO,
        "java" => &JAVA,
        "c" => &C,
        "cpp" | "cuda-cpp" | "objective-cpp" => &CPP,
        "csharp" => &CSHARP,
        "ruby" => &RUBY,
        "php" => &PHP,
        "shellscript" | "bash" => &BASH,
        "kotlin" => &KOTLIN,
        "swift" => &SWIFT,
        "scala" => &SCALA,
        "lua" => &LUA,
        "dart" => &DART,
        "elixir" => &ELIXIR,
        "haskell" => &HASKELL,
        "zig" => &ZIG,
        "r" => &R,
        "css" => &CSS,
        "scss" => &SCSS,
        "solidity" => &SOLIDITY,
        "powershell" => &POWERSHELL,
        "proto3" | "proto" | "protobuf" => &PROTO,
        "graphql" => &GRAPHQL,
        "terraform" | "hcl" | "terraform-vars" | "tf" => &HCL,
        _ => return None,
    })
}

/// All grammars, for tests and measurements.
#[cfg(test)]
pub(in crate::chunk) static ALL: &[(&str, &Grammar)] = &[
    ("rust", &RUST),
    ("typescript", &TYPESCRIPT),
    ("typescriptreact", &TSX),
    ("javascript", &JAVASCRIPT),
    ("python", &PYTHON),
    ("go", &GO),
    ("java", &JAVA),
    ("c", &C),
    ("cpp", &CPP),
    ("csharp", &CSHARP),
    ("ruby", &RUBY),
    ("php", &PHP),
    ("shellscript", &BASH),
    ("kotlin", &KOTLIN),
    ("swift", &SWIFT),
    ("scala", &SCALA),
    ("lua", &LUA),
    ("dart", &DART),
    ("elixir", &ELIXIR),
    ("haskell", &HASKELL),
    ("zig", &ZIG),
    ("r", &R),
    ("css", &CSS),
    ("scss", &SCSS),
    ("solidity", &SOLIDITY),
    ("powershell", &POWERSHELL),
    ("proto", &PROTO),
    ("graphql", &GRAPHQL),
    ("terraform", &HCL),
];

static RUST: Grammar = Grammar::new(
    || tree_sitter_rust::LANGUAGE.into(),
    &[
        ("function_item", Function, NAME),
        ("function_signature_item", Function, NAME),
        ("macro_definition", Function, NAME),
        ("struct_item", Type, NAME),
        ("enum_item", Type, NAME),
        ("union_item", Type, NAME),
        ("type_item", Type, NAME),
        ("associated_type", Type, NAME),
        ("trait_item", Class, NAME),
        ("impl_item", Extension, Field("type")),
        ("mod_item", Namespace, NAME),
        ("foreign_mod_item", Namespace, Nowhere),
        ("const_item", Value, NAME),
        ("static_item", Value, NAME),
        ("declaration_list", Body, Nowhere),
        ("field_declaration_list", Body, Nowhere),
        ("enum_variant_list", Body, Nowhere),
        ("block", Body, Nowhere),
        ("match_block", Body, Nowhere),
        ("attribute_item", Attribute, Nowhere),
        ("inner_attribute_item", Comment, Nowhere),
        ("line_comment", Comment, Nowhere),
        ("block_comment", Comment, Nowhere),
    ],
);

const SCRIPT_RULES: &[Rule] = &[
    ("function_declaration", Function, NAME),
    ("generator_function_declaration", Function, NAME),
    ("function_signature", Function, NAME),
    ("method_definition", Function, NAME),
    ("method_signature", Function, NAME),
    ("abstract_method_signature", Function, NAME),
    ("class_declaration", Class, NAME),
    ("abstract_class_declaration", Class, NAME),
    ("interface_declaration", Type, NAME),
    ("type_alias_declaration", Type, NAME),
    ("enum_declaration", Type, NAME),
    ("module", Namespace, NAME),
    ("internal_module", Namespace, NAME),
    ("ambient_declaration", Wrapper, Nowhere),
    ("export_statement", Code, Nowhere),
    ("expression_statement", Code, Nowhere),
    ("lexical_declaration", Code, Nowhere),
    ("variable_declaration", Code, Nowhere),
    ("public_field_definition", Code, Nowhere),
    ("field_definition", Code, Nowhere),
    ("pair", Code, Nowhere),
    ("class_body", Body, Nowhere),
    ("interface_body", Body, Nowhere),
    ("enum_body", Body, Nowhere),
    ("statement_block", Body, Nowhere),
    ("switch_body", Body, Nowhere),
    ("decorator", Attribute, Nowhere),
    ("comment", Comment, Nowhere),
    ("hash_bang_line", Comment, Nowhere),
];

static TYPESCRIPT: Grammar =
    Grammar::new(|| tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), SCRIPT_RULES)
        .special(Special::Script);

static TSX: Grammar = Grammar::new(|| tree_sitter_typescript::LANGUAGE_TSX.into(), SCRIPT_RULES)
    .special(Special::Script);

static JAVASCRIPT: Grammar =
    Grammar::new(|| tree_sitter_javascript::LANGUAGE.into(), SCRIPT_RULES).special(Special::Script);

static PYTHON: Grammar = Grammar::new(
    || tree_sitter_python::LANGUAGE.into(),
    &[
        ("function_definition", Function, NAME),
        ("class_definition", Class, NAME),
        ("type_alias_statement", Type, Inside),
        ("decorated_definition", Wrapper, Nowhere),
        ("expression_statement", Code, Nowhere),
        ("block", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Python);

static GO: Grammar = Grammar::new(
    || tree_sitter_go::LANGUAGE.into(),
    &[
        ("function_declaration", Function, NAME),
        ("method_declaration", Function, NAME),
        ("type_declaration", Wrapper, Nowhere),
        ("type_spec", Type, NAME),
        ("type_alias", Type, NAME),
        ("const_declaration", Wrapper, Nowhere),
        ("var_declaration", Wrapper, Nowhere),
        ("const_spec", Variable, NAME),
        ("var_spec", Variable, NAME),
        ("var_spec_list", Body, Nowhere),
        ("block", Body, Nowhere),
        ("statement_list", Body, Nowhere),
        ("struct_type", Body, Nowhere),
        ("interface_type", Body, Nowhere),
        ("field_declaration_list", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static JAVA: Grammar = Grammar::new(
    || tree_sitter_java::LANGUAGE.into(),
    &[
        ("class_declaration", Class, NAME),
        ("interface_declaration", Type, NAME),
        ("enum_declaration", Type, NAME),
        ("record_declaration", Struct, NAME),
        ("annotation_type_declaration", Type, NAME),
        ("method_declaration", Function, NAME),
        ("constructor_declaration", Function, NAME),
        ("compact_constructor_declaration", Function, NAME),
        ("field_declaration", Code, Nowhere),
        ("constant_declaration", Code, Nowhere),
        ("class_body", Body, Nowhere),
        ("interface_body", Body, Nowhere),
        ("enum_body", Body, Nowhere),
        ("enum_body_declarations", Body, Nowhere),
        ("annotation_type_body", Body, Nowhere),
        ("block", Body, Nowhere),
        ("constructor_body", Body, Nowhere),
        ("switch_block", Body, Nowhere),
        ("line_comment", Comment, Nowhere),
        ("block_comment", Comment, Nowhere),
    ],
)
.special(Special::Fields);

static C: Grammar = Grammar::new(|| tree_sitter_c::LANGUAGE.into(), C_RULES).special(Special::C);

static CPP: Grammar =
    Grammar::new(|| tree_sitter_cpp::LANGUAGE.into(), C_RULES).special(Special::C);

/// C++ is C with more rows; rows that a grammar does not know are never met.
const C_RULES: &[Rule] = &[
    ("function_definition", Function, Declarator),
    ("struct_specifier", Struct, NAME),
    ("union_specifier", Struct, NAME),
    ("enum_specifier", Type, NAME),
    ("class_specifier", Class, NAME),
    ("alias_declaration", Type, NAME),
    ("concept_definition", Type, NAME),
    ("namespace_definition", Namespace, NAME),
    ("linkage_specification", Namespace, Nowhere),
    ("template_declaration", Wrapper, Nowhere),
    ("declaration", Code, Nowhere),
    ("type_definition", Code, Nowhere),
    ("preproc_def", Value, NAME),
    ("preproc_function_def", Value, NAME),
    ("preproc_ifdef", Body, Nowhere),
    ("preproc_if", Body, Nowhere),
    ("preproc_else", Body, Nowhere),
    ("preproc_elif", Body, Nowhere),
    ("preproc_elifdef", Body, Nowhere),
    ("declaration_list", Body, Nowhere),
    ("field_declaration_list", Body, Nowhere),
    ("enumerator_list", Body, Nowhere),
    ("compound_statement", Body, Nowhere),
    ("attribute_declaration", Attribute, Nowhere),
    ("comment", Comment, Nowhere),
];

static CSHARP: Grammar = Grammar::new(
    || tree_sitter_c_sharp::LANGUAGE.into(),
    &[
        ("namespace_declaration", Namespace, NAME),
        ("class_declaration", Class, NAME),
        ("struct_declaration", Struct, NAME),
        ("record_declaration", Struct, NAME),
        ("interface_declaration", Type, NAME),
        ("enum_declaration", Type, NAME),
        ("delegate_declaration", Type, NAME),
        ("method_declaration", Function, NAME),
        ("constructor_declaration", Function, NAME),
        ("destructor_declaration", Function, NAME),
        ("operator_declaration", Function, Field("operator")),
        ("local_function_statement", Function, NAME),
        ("property_declaration", Value, NAME),
        ("field_declaration", Code, Nowhere),
        ("declaration_list", Body, Nowhere),
        ("enum_member_declaration_list", Body, Nowhere),
        ("block", Body, Nowhere),
        ("switch_body", Body, Nowhere),
        ("preproc_if", Body, Nowhere),
        ("preproc_else", Body, Nowhere),
        ("preproc_elif", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Fields);

static RUBY: Grammar = Grammar::new(
    || tree_sitter_ruby::LANGUAGE.into(),
    &[
        ("class", Class, NAME),
        ("module", Class, NAME),
        ("singleton_class", Namespace, Nowhere),
        ("method", Function, NAME),
        ("singleton_method", Function, NAME),
        ("assignment", Code, Nowhere),
        ("call", Code, Nowhere),
        ("body_statement", Body, Nowhere),
        ("block_body", Body, Nowhere),
        ("do_block", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Ruby);

static PHP: Grammar = Grammar::new(
    || tree_sitter_php::LANGUAGE_PHP.into(),
    &[
        ("class_declaration", Class, NAME),
        ("trait_declaration", Class, NAME),
        ("interface_declaration", Type, NAME),
        ("enum_declaration", Type, NAME),
        ("function_definition", Function, NAME),
        ("method_declaration", Function, NAME),
        ("namespace_definition", Namespace, NAME),
        ("const_declaration", Value, Inside),
        ("declaration_list", Body, Nowhere),
        ("enum_declaration_list", Body, Nowhere),
        ("compound_statement", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static BASH: Grammar = Grammar::new(
    || tree_sitter_bash::LANGUAGE.into(),
    &[
        ("function_definition", Function, NAME),
        ("variable_assignment", Variable, NAME),
        ("declaration_command", Variable, Inside),
        ("compound_statement", Body, Nowhere),
        ("do_group", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static KOTLIN: Grammar = Grammar::new(
    || tree_sitter_kotlin_ng::LANGUAGE.into(),
    &[
        ("class_declaration", Class, NAME),
        ("object_declaration", Class, NAME),
        ("companion_object", Namespace, Nowhere),
        ("function_declaration", Function, NAME),
        ("type_alias", Type, Child("identifier")),
        ("property_declaration", Variable, Inside),
        ("class_body", Body, Nowhere),
        ("enum_class_body", Body, Nowhere),
        ("function_body", Body, Nowhere),
        ("block", Body, Nowhere),
        ("line_comment", Comment, Nowhere),
        ("block_comment", Comment, Nowhere),
    ],
);

static SWIFT: Grammar = Grammar::new(
    || tree_sitter_swift::LANGUAGE.into(),
    &[
        ("class_declaration", Code, Nowhere),
        ("protocol_declaration", Type, NAME),
        ("function_declaration", Function, NAME),
        ("protocol_function_declaration", Function, NAME),
        ("init_declaration", Function, Fixed("init")),
        ("deinit_declaration", Function, Fixed("deinit")),
        ("subscript_declaration", Function, Fixed("subscript")),
        ("typealias_declaration", Type, NAME),
        ("property_declaration", Variable, Inside),
        ("class_body", Body, Nowhere),
        ("enum_class_body", Body, Nowhere),
        ("protocol_body", Body, Nowhere),
        ("function_body", Body, Nowhere),
        ("statements", Body, Nowhere),
        ("attribute", Attribute, Nowhere),
        ("comment", Comment, Nowhere),
        ("multiline_comment", Comment, Nowhere),
    ],
)
.special(Special::Swift);

static SCALA: Grammar = Grammar::new(
    || tree_sitter_scala::LANGUAGE.into(),
    &[
        ("class_definition", Class, NAME),
        ("object_definition", Class, NAME),
        ("package_object", Class, NAME),
        ("trait_definition", Class, NAME),
        ("enum_definition", Type, NAME),
        ("type_definition", Type, NAME),
        ("function_definition", Function, NAME),
        ("function_declaration", Function, NAME),
        ("val_definition", Variable, Field("pattern")),
        ("var_definition", Variable, Field("pattern")),
        ("given_definition", Value, NAME),
        ("extension_definition", Namespace, Nowhere),
        ("package_clause", Namespace, Nowhere),
        ("template_body", Body, Nowhere),
        ("enum_body", Body, Nowhere),
        ("block", Body, Nowhere),
        ("indented_block", Body, Nowhere),
        ("case_block", Body, Nowhere),
        ("comment", Comment, Nowhere),
        ("block_comment", Comment, Nowhere),
    ],
);

static LUA: Grammar = Grammar::new(
    || tree_sitter_lua::LANGUAGE.into(),
    &[
        ("function_declaration", Function, NAME),
        ("assignment_statement", Code, Nowhere),
        ("variable_declaration", Code, Nowhere),
        ("block", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Lua);

static DART: Grammar = Grammar::new(
    || tree_sitter_dart::LANGUAGE.into(),
    &[
        ("class_declaration", Class, NAME),
        ("mixin_declaration", Class, NAME),
        ("extension_declaration", Class, NAME),
        ("extension_type_declaration", Class, NAME),
        ("enum_declaration", Type, NAME),
        ("type_alias", Type, Child("type_identifier")),
        ("member_declaration", Wrapper, Nowhere),
        ("declaration", Wrapper, Nowhere),
        ("constructor_signature", Function, NAME),
        ("constant_constructor_signature", Function, NAME),
        ("factory_constructor_signature", Function, NAME),
        ("function_declaration", Function, Inside),
        ("getter_declaration", Function, Inside),
        ("setter_declaration", Function, Inside),
        ("method_declaration", Function, Inside),
        ("top_level_variable_declaration", Variable, Inside),
        ("class_body", Body, Nowhere),
        ("extension_body", Body, Nowhere),
        ("enum_body", Body, Nowhere),
        ("function_body", Body, Nowhere),
        ("block", Body, Nowhere),
        ("annotation", Attribute, Nowhere),
        ("comment", Comment, Nowhere),
        ("documentation_comment", Comment, Nowhere),
    ],
);

static ELIXIR: Grammar = Grammar::new(
    || tree_sitter_elixir::LANGUAGE.into(),
    &[
        ("call", Code, Nowhere),
        ("unary_operator", Code, Nowhere),
        ("do_block", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Elixir)
.merging();

static HASKELL: Grammar = Grammar::new(
    || tree_sitter_haskell::LANGUAGE.into(),
    &[
        ("signature", Function, NAME),
        ("function", Function, NAME),
        ("bind", Function, NAME),
        ("data_type", Type, NAME),
        ("newtype", Type, NAME),
        ("type_synonym", Type, NAME),
        ("type_family", Type, NAME),
        ("data_family", Type, NAME),
        ("class", Class, NAME),
        ("instance", Extension, NAME),
        ("declarations", Body, Nowhere),
        ("imports", Body, Nowhere),
        ("class_declarations", Body, Nowhere),
        ("instance_declarations", Body, Nowhere),
        ("haddock", Comment, Nowhere),
        ("comment", Comment, Nowhere),
        ("pragma", Comment, Nowhere),
    ],
)
.merging();

static ZIG: Grammar = Grammar::new(
    || tree_sitter_zig::LANGUAGE.into(),
    &[
        ("function_declaration", Function, NAME),
        ("test_declaration", Function, Child("string")),
        ("variable_declaration", Code, Nowhere),
        ("struct_declaration", Body, Nowhere),
        ("union_declaration", Body, Nowhere),
        ("enum_declaration", Body, Nowhere),
        ("opaque_declaration", Body, Nowhere),
        ("block", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Zig);

static R: Grammar = Grammar::new(
    || tree_sitter_r::LANGUAGE.into(),
    &[
        ("binary_operator", Code, Nowhere),
        ("braced_expression", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::R);

static CSS: Grammar = Grammar::new(|| tree_sitter_css::LANGUAGE.into(), STYLE_RULES);

static SCSS: Grammar = Grammar::new(tree_sitter_scss::language, STYLE_RULES);

const STYLE_RULES: &[Rule] = &[
    ("rule_set", Style, Selector),
    ("at_rule", Style, Selector),
    ("keyframes_statement", Style, Selector),
    ("media_statement", Style, Selector),
    ("supports_statement", Style, Selector),
    ("mixin_statement", Function, NAME),
    ("function_statement", Function, NAME),
    ("block", Body, Nowhere),
    ("keyframe_block_list", Body, Nowhere),
    ("comment", Comment, Nowhere),
    ("js_comment", Comment, Nowhere),
];

static SOLIDITY: Grammar = Grammar::new(
    || tree_sitter_solidity::LANGUAGE.into(),
    &[
        ("contract_declaration", Class, NAME),
        ("library_declaration", Class, NAME),
        ("interface_declaration", Type, NAME),
        ("struct_declaration", Type, NAME),
        ("enum_declaration", Type, NAME),
        ("user_defined_type_definition", Type, NAME),
        ("error_declaration", Value, NAME),
        ("event_definition", Value, NAME),
        ("constant_variable_declaration", Value, NAME),
        ("function_definition", Function, NAME),
        ("modifier_definition", Function, NAME),
        ("constructor_definition", Function, Fixed("constructor")),
        ("fallback_receive_definition", Function, Nowhere),
        ("contract_body", Body, Nowhere),
        ("function_body", Body, Nowhere),
        ("struct_body", Body, Nowhere),
        ("enum_body", Body, Nowhere),
        ("block_statement", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static POWERSHELL: Grammar = Grammar::new(
    || tree_sitter_powershell::LANGUAGE.into(),
    &[
        ("function_statement", Function, Child("function_name")),
        ("class_statement", Class, Child("simple_name")),
        ("enum_statement", Type, Child("simple_name")),
        ("class_method_definition", Function, Child("simple_name")),
        ("statement_list", Body, Nowhere),
        ("statement_block", Body, Nowhere),
        ("script_block", Body, Nowhere),
        ("script_block_body", Body, Nowhere),
        ("named_block_list", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static PROTO: Grammar = Grammar::new(
    || tree_sitter_proto::LANGUAGE.into(),
    &[
        ("message", Type, Child("message_name")),
        ("enum", Type, Child("enum_name")),
        ("service", Class, Child("service_name")),
        ("rpc", Function, Child("rpc_name")),
        ("message_body", Body, Nowhere),
        ("enum_body", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static GRAPHQL: Grammar = Grammar::new(
    || tree_sitter_graphql::LANGUAGE.into(),
    &[
        ("document", Body, Nowhere),
        ("definition", Body, Nowhere),
        ("type_system_definition", Body, Nowhere),
        ("type_definition", Body, Nowhere),
        ("executable_definition", Body, Nowhere),
        ("type_system_extension", Body, Nowhere),
        ("type_extension", Body, Nowhere),
        ("object_type_definition", Type, Child("name")),
        ("interface_type_definition", Type, Child("name")),
        ("union_type_definition", Type, Child("name")),
        ("scalar_type_definition", Type, Child("name")),
        ("enum_type_definition", Type, Child("name")),
        ("input_object_type_definition", Type, Child("name")),
        ("directive_definition", Value, Child("name")),
        ("object_type_extension", Extension, Child("name")),
        ("interface_type_extension", Extension, Child("name")),
        ("operation_definition", Function, Child("name")),
        ("fragment_definition", Function, Child("fragment_name")),
        ("fields_definition", Body, Nowhere),
        ("input_fields_definition", Body, Nowhere),
        ("enum_values_definition", Body, Nowhere),
        ("selection_set", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
);

static HCL: Grammar = Grammar::new(
    || tree_sitter_hcl::LANGUAGE.into(),
    &[
        ("block", Code, Nowhere),
        ("attribute", Variable, Child("identifier")),
        ("body", Body, Nowhere),
        ("comment", Comment, Nowhere),
    ],
)
.special(Special::Hcl);
