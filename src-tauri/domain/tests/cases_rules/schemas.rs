//! Response schemas.

use domain::schema::validate_response_schema;

use crate::{run, texts};

#[test]
fn response_schemas() {
    run("reflect_schema", "name", &["input", "expect"], |case| {
        let faults = validate_response_schema(case.get("input"));
        let mut paths: Vec<String> = faults.into_iter().map(|fault| fault.path).collect();
        paths.dedup();
        assert_eq!(paths, texts(case.get("expect")), "{}", case.id);
    });
}
