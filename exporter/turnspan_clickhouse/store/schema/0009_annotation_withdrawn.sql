-- The judgments that are withdrawn, and by whom. A withdrawal takes back the judgment that it names,
-- or the newest of its kind on its subject at that time, of its author where it names one. A judgment
-- that is told again after that holds again: it is the newer version of its row.
-- Only subjects with a withdrawal are read: without any, no granule of annotation. The fold goes
-- through what happened in the order of time; `given` is what was judged so far, as
-- (annotation_id, author, withdrawn_at, withdrawn_by, reason), not withdrawn where withdrawn_at is 0.
CREATE OR REPLACE VIEW {database}.annotation_withdrawn {on_cluster} AS
SELECT
    project,
    subject_kind,
    kind,
    subject_id,
    (arrayJoin(withdrawn) AS one).1 AS annotation_id,
    one.3 AS withdrawn_at,
    one.4 AS withdrawn_by,
    one.5 AS reason
FROM
(
    SELECT
        project,
        subject_kind,
        kind,
        subject_id,
        arrayFilter(
            one -> one.3 != toDateTime64(0, 9, 'UTC'),
            arrayFold(
                (given, event) -> multiIf(
                    NOT event.2,
                    arrayPushBack(
                        given, (event.3, event.4, toDateTime64(0, 9, 'UTC'), '', '')),
                    arrayMap(
                        (one, position) -> if(
                            position = arrayLastIndex(
                                found -> found.3 = toDateTime64(0, 9, 'UTC')
                                    AND if(event.3 = '',
                                        event.4 IN ('', found.2), found.1 = event.3),
                                given),
                            (one.1, one.2, event.1, event.4, event.5),
                            one),
                        given,
                        arrayEnumerate(given))),
                arraySort(groupArray((at, taken_back, id, by, why, written))),
                CAST([], 'Array(Tuple(String, String, DateTime64(9, \'UTC\'), String, String))')))
            AS withdrawn
    FROM
    (
        SELECT
            project, subject_kind, kind, subject_id, created_at AS at, false AS taken_back,
            annotation_id AS id, toString(author) AS by, '' AS why, written_at AS written
        FROM {database}.annotation FINAL
        WHERE (project, subject_kind, kind, subject_id) IN
            (SELECT project, subject_kind, kind, subject_id FROM {database}.withdrawal)
        UNION ALL
        SELECT
            project, subject_kind, kind, subject_id, created_at, true,
            annotation_id, toString(author), comment, written_at
        FROM {database}.withdrawal FINAL
    )
    GROUP BY project, subject_kind, kind, subject_id
)
