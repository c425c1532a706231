-- What holds: the newest judgment of each kind on each subject that nobody withdrew. A person's holds
-- whatever a machine says later. The others stay in annotation.
-- Of preferences it is the newest on each pair, whichever of the two it chose. They are read apart: by
-- the pair, a reader's condition on the subject would not reach the table.
-- The count comes first for stores in which nothing was ever withdrawn: the engine then leaves out the
-- other view before it plans it.
CREATE OR REPLACE VIEW {database}.annotation_current {on_cluster} AS
{piece:judging|!=}
LIMIT 1 BY project, subject_kind, subject_id, kind
UNION ALL
{piece:judging|=}
LIMIT 1 BY
    project, subject_kind, least(chosen_id, rejected_id), greatest(chosen_id, rejected_id)
