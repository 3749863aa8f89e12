DELETE FROM model_version
WHERE model_id = ?1
  AND version IN (
      SELECT v.version FROM model_version v
      WHERE v.model_id = ?1
        AND v.pinned = 0
        AND v.version < (SELECT m.version FROM mental_model m WHERE m.id = ?1)
        AND NOT EXISTS (
            SELECT 1 FROM proposal p
            WHERE p.model_id = ?1 AND p.base_version = v.version
              AND p.state IN ('open', 'in_review', 'conflicted')
        )
      ORDER BY v.version DESC LIMIT -1 OFFSET ?2
  )
