DELETE /* whole file */ FROM tombstone
WHERE at < ?1
  AND NOT EXISTS (
      SELECT 1 FROM model_citation c WHERE c.memory_uid = tombstone.memory_uid
  )
  AND NOT EXISTS (
      SELECT 1 FROM mental_model m
      JOIN model_version v ON v.model_id = m.id
      WHERE m.bank_id = tombstone.bank_id AND instr(v.based_on, tombstone.memory_uid) > 0
  )
  AND NOT EXISTS (
      SELECT 1 FROM mental_model m
      JOIN proposal p ON p.model_id = m.id
      WHERE m.bank_id = tombstone.bank_id AND instr(p.facts_used, tombstone.memory_uid) > 0
  )
