//! Response schemas beyond the cases: references, "or null", sizes, and outputs held against them.

use domain::schema::{Structured, check_response_schema, field_faults, validate_response_schema};
use serde_json::{Value, json};

fn faults(schema: &Value) -> Vec<(String, &'static str)> {
    validate_response_schema(schema).into_iter().map(|fault| (fault.path, fault.code)).collect()
}

fn at(path: &str, code: &'static str) -> (String, &'static str) {
    (path.to_owned(), code)
}

#[test]
fn references_are_inlined_for_checking_alone() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {
            "Person": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "born": {"$ref": "#/$defs/Year"}},
                "required": ["name"],
            },
            "Year": {"type": "integer", "minimum": 1900},
            "unused": {"type": "nonsense"},
        },
        "properties": {
            "lead": {"$ref": "#/$defs/Person", "description": "Who leads."},
            "crew": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
        },
    });
    let checked = check_response_schema(&schema).expect("accepted");
    let fields: Vec<(String, String, bool)> =
        checked.fields().into_iter().map(|f| (f.name, f.kind, f.required)).collect();
    let mut sorted = fields;
    sorted.sort();
    let field = |name: &str, kind: &str, required| (name.to_owned(), kind.to_owned(), required);
    assert_eq!(
        sorted,
        [
            field("crew", "array", false),
            field("crew[].born", "integer", false),
            field("crew[].name", "string", true),
            field("lead", "object", false),
            field("lead.born", "integer", false),
            field("lead.name", "string", true),
        ]
    );
    let lead = checked.fields().into_iter().find(|field| field.name == "lead");
    assert_eq!(lead.and_then(|field| field.description).as_deref(), Some("Who leads."));
    let wrong = checked.judge(&json!({"lead": {"name": "Ada", "born": 12}}));
    assert!(matches!(wrong, Structured::Invalid(problems) if problems[0].path == "/lead/born"));
}

#[test]
fn faults_stand_where_the_caller_wrote_them() {
    let schema = json!({
        "$defs": {"Person": {"type": "object", "properties": {"name": {"type": "text"}}}},
        "properties": {
            "a": {"$ref": "#/$defs/Person"},
            "b": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
            "x/y": {"type": "date"},
        },
    });
    let found = [
        at("/$defs/Person/properties/name/type", "schema_property_type"),
        at("/properties/x~1y/type", "schema_property_type"),
    ];
    assert_eq!(faults(&schema), found);
}

#[test]
fn recursion_and_foreign_references_are_refused() {
    let recursive = json!({
        "$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}},
        "properties": {"first": {"$ref": "#/$defs/Node"}},
    });
    assert_eq!(faults(&recursive), [at("/$defs/Node/properties/next/$ref", "schema_keyword")]);
    for reference in [
        "https://example.org/schema",
        "#",
        "#/properties/a",
        "#/$defs/missing",
        "other.json#/$defs/A",
    ] {
        let schema = json!({"$defs": {"A": {}}, "properties": {"b": {"$ref": reference}}});
        assert_eq!(faults(&schema), [at("/properties/b/$ref", "schema_keyword")], "{reference}");
    }
    let twice = json!({
        "definitions": {"A": {"type": "string"}, "B": {"$ref": "#/definitions/A"}},
        "properties": {"a": {"$ref": "#/definitions/B"}, "b": {"$ref": "#/definitions/B"}},
    });
    assert_eq!(faults(&twice), []);
    let top = json!({"$ref": "#/$defs/Top", "$defs": {"Top": {"properties": {"a": {}}}}});
    assert_eq!(faults(&top), []);
}

#[test]
fn or_null_is_the_only_choice() {
    let one = |choice: Value| json!({"properties": {"a": choice}});
    let nil = json!({"type": "null"});
    for choice in [
        json!({"anyOf": [{"type": "string"}, nil]}),
        json!({"oneOf": [nil, {"type": "integer"}], "default": null, "title": "A"}),
    ] {
        assert_eq!(faults(&one(choice)), []);
    }
    for choice in [
        json!({"anyOf": [{"type": "string"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}, nil]}),
        json!({"anyOf": [nil, nil]}),
        json!({"anyOf": []}),
    ] {
        assert_eq!(faults(&one(choice)), [at("/properties/a/anyOf", "schema_keyword")]);
    }
    for keyword in ["allOf", "not", "patternProperties"] {
        let path = format!("/properties/a/{keyword}");
        assert_eq!(faults(&one(json!({keyword: {}}))), [at(&path, "schema_keyword")]);
    }
    let hidden = one(json!({"type": "object", "additionalProperties": {"allOf": [{}]}}));
    let path = "/properties/a/additionalProperties/allOf";
    assert_eq!(faults(&hidden), [at(path, "schema_keyword")]);
    let top = json!({"anyOf": [{"properties": {"a": {}}}, nil], "properties": {"a": {}}});
    assert_eq!(faults(&top), [at("/anyOf", "schema_keyword")]);
}

#[test]
fn names_items_enums_and_malformed_keywords() {
    let schema = json!({"properties": {
        "": {"type": "string"},
        "b": true,
        "c": {"type": "array", "items": "string"},
        "d": {"enum": []},
        "e": {"type": "object", "properties": {"f": {"type": null}}, "required": [1]},
        "g": {"type": "object", "properties": []},
    }, "required": null});
    assert_eq!(
        faults(&schema),
        [
            at("/properties/", "schema_property_name"),
            at("/properties/b", "schema_property_not_object"),
            at("/properties/c/items", "schema_items"),
            at("/properties/d/enum", "schema_enum"),
            at("/properties/e/properties/f/type", "schema_property_type"),
            at("/properties/e/required", "schema_required"),
            at("/properties/g/properties", "schema_no_properties"),
        ]
    );
    let malformed = json!({"properties": {
        "a": {"type": "integer", "minimum": "one"},
        "b": {"type": "string", "maxLength": -1},
    }});
    assert_eq!(
        faults(&malformed),
        [
            at("/properties/a/minimum", "schema_keyword"),
            at("/properties/b/maxLength", "schema_keyword"),
        ]
    );
    let pattern = json!({"properties": {"a": {"type": "string", "pattern": "("}}});
    assert_eq!(faults(&pattern), [at("/properties/a/pattern", "schema_keyword")]);
    // A field of that name is no keyword.
    assert_eq!(faults(&json!({"properties": {"anyOf": {}, "$ref": {}, "enum": {}}})), []);
}

#[test]
fn sizes() {
    let nested = |levels: usize| {
        (0..levels).fold(json!({"type": "string"}), |inner, _| json!({"properties": {"a": inner}}))
    };
    assert_eq!(faults(&nested(8)), []);
    assert_eq!(faults(&nested(9)), [at("", "schema_too_large")]);
    let wide = |count: usize| {
        let fields = (0..count).map(|i| (format!("f{i}"), json!({}))).collect();
        json!({"properties": Value::Object(fields)})
    };
    assert_eq!(faults(&wide(200)), []);
    assert_eq!(faults(&wide(201)), [at("", "schema_too_large")]);
    let heavy = json!({"properties": {"a": {"description": "x".repeat(64 * 1024)}}});
    assert_eq!(faults(&heavy), [at("", "schema_too_large")]);
    // References that multiply are stopped, not followed to the end.
    let mut defs = serde_json::Map::new();
    defs.insert("d0".into(), json!({"type": "string"}));
    for i in 1..30 {
        let inner = format!("#/$defs/d{}", i - 1);
        defs.insert(
            format!("d{i}"),
            json!({"properties": {"a": {"$ref": inner}, "b": {"$ref": inner}}}),
        );
    }
    let bomb = json!({"$defs": defs, "properties": {"a": {"$ref": "#/$defs/d29"}}});
    assert!(faults(&bomb).contains(&at("", "schema_too_large")));
}

#[test]
fn pointers_become_fields() {
    let schema = json!({"type": "array", "required": ["b"]});
    let found = field_faults("trigger.response_schema", &validate_response_schema(&schema));
    let pairs: Vec<(&str, &str)> =
        found.iter().map(|fault| (fault.field.as_str(), fault.code.as_str())).collect();
    assert_eq!(
        pairs,
        [
            ("trigger.response_schema", "schema_not_object"),
            ("trigger.response_schema.required", "schema_required_unknown"),
        ]
    );
}

fn judge(schema: &Value, output: &Value) -> Structured {
    check_response_schema(schema).expect("accepted").judge(output)
}

#[test]
fn outputs_are_normalised_without_coercion() {
    let schema = json!({
        "properties": {
            "n": {"type": "integer"},
            "s": {},
            "free": {"type": "object"},
            "list": {"type": "array", "items": {"properties": {"n": {"type": "integer"}}}},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["n", "maybe"],
    });
    let output = json!({
        "n": 3.0, "s": null, "free": {"any": 1}, "extra": 1, "maybe": null,
        "list": [{"n": 4.0, "extra": 2}],
    });
    let normal = json!({"n": 3, "free": {"any": 1}, "maybe": null, "list": [{"n": 4}]});
    assert_eq!(judge(&schema, &output), Structured::Valid(normal.clone()));
    assert_eq!(judge(&schema, &normal), Structured::Valid(normal));
    let Structured::Invalid(problems) = judge(&schema, &json!({"n": "3", "s": 5})) else {
        panic!("accepted")
    };
    let mut paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/maybe", "/n", "/s"]);
    let wrong = judge(&schema, &json!({"n": 1, "maybe": "x"}));
    assert!(
        matches!(&wrong, Structured::Invalid(problems)
            if problems[0].path == "/maybe" && problems[0].message.contains("integer")),
        "{wrong:?}"
    );
}

#[test]
fn nothing_matches_is_judged_before_required() {
    let schema = json!({"properties": {"a": {}, "b": {"type": "boolean"}, "c": {"type": "array"}},
        "required": ["a", "c"]});
    for output in [json!({}), json!({"x": 1}), json!({"a": null, "c": []}), json!({"a": ""})] {
        assert_eq!(judge(&schema, &output), Structured::NothingMatches, "{output}");
    }
    assert_eq!(judge(&schema, &json!([])), Structured::NotAnObject);
    // False is a value, and an empty list is valid once something else holds one.
    assert!(matches!(judge(&schema, &json!({"b": false})), Structured::Invalid(_)));
    let valid = json!({"a": "x", "c": []});
    assert_eq!(judge(&schema, &valid), Structured::Valid(valid));
}
