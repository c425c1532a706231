SELECT lower(hex(prompt)) AS prompt_hash, lower(hex(final_text)) AS final_hash, error_message,
    attributes['turnspan.consortium.grouped_by'] AS grouped_by,
    toUInt32OrZero(attributes['turnspan.consortium.missing_rows']) AS missing
FROM consortium WHERE project = {project:String} AND consortium_id = {run:String}
