-- The role with which KEDA counts. Run it in the database after the first migration, as its owner; then give the role a
-- password with \password, so that it stands in no history.
CREATE ROLE unwind_scaler LOGIN CONNECTION LIMIT 4;
GRANT SELECT (queue, state) ON submissions TO unwind_scaler;
