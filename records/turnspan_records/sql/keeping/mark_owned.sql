INSERT INTO {work} (pass, record, week, reason, key)
SELECT DISTINCT {pass:String}, concat({place:String}, record), value.1, '', value.2 {found}
