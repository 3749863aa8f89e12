SELECT o.id
FROM operation o INDEXED BY operation_claim
WHERE o.status = 'pending'
  AND o.held_reason IS NULL
  AND (o.next_retry_at IS NULL OR o.next_retry_at <= ?1)
  AND (?2 IS NULL OR o.automatic = ?2)
  AND o.operation_type IN (SELECT value FROM json_each(?3))
  AND NOT EXISTS (
      SELECT 1 FROM operation r INDEXED BY operation_claim
      WHERE r.status = 'processing'
        AND r.bank_id = o.bank_id
        AND (r.dedupe_key = o.dedupe_key
             OR r.document_uid = o.document_uid
             OR (r.operation_type = 'refresh_mental_model'
                 AND o.operation_type = 'refresh_mental_model'
                 AND r.mental_model_uid = o.mental_model_uid))
  )
  AND NOT EXISTS (
      SELECT 1 FROM operation e INDEXED BY operation_claim
      WHERE e.status = 'pending'
        AND e.bank_id = o.bank_id
        AND e.document_uid = o.document_uid
        AND e.id < o.id
  )
  AND (o.operation_type <> 'refresh_mental_model'
       OR ?4 > (SELECT count(*) FROM operation r INDEXED BY operation_claim
                WHERE r.status = 'processing' AND r.operation_type = 'refresh_mental_model'))
ORDER BY o.automatic, coalesce(o.next_retry_at, o.created_at), o.id
LIMIT 1
