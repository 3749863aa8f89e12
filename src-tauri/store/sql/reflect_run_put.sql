INSERT INTO reflect_run (
    uid, bank_id, query, request, status, text, structured_output, structured_output_error,
    based_on, evidence_spans, trace, usage, warnings, report, material, origin, pinned, started_at,
    finished_at
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19
)
ON CONFLICT (uid) DO UPDATE SET
    status = excluded.status,
    text = excluded.text,
    structured_output = excluded.structured_output,
    structured_output_error = excluded.structured_output_error,
    based_on = excluded.based_on,
    evidence_spans = excluded.evidence_spans,
    trace = excluded.trace,
    usage = excluded.usage,
    warnings = excluded.warnings,
    report = excluded.report,
    material = excluded.material,
    finished_at = excluded.finished_at
